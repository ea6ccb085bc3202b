"""A CSV file is read as it is written, or one line says what is wrong and where."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisylabels.csv_text import SPREADSHEET, find_separator, read_header, read_records

HEADER = ["x", "note", "kind"]
ROWS = [[f"{i}.5", f"n{i % 7}", "yes" if i % 2 else "no"] for i in range(30)]


def written(rows, header=HEADER, separator=",", end="\n"):
    return end.join(separator.join(row) for row in [header, *rows]) + end


def with_cell(i, j, value, rows=ROWS):
    rows = [list(row) for row in rows]
    rows[i][j] = value
    return rows


@pytest.fixture
def read(tmp_path):
    def read_text(text, *options, **options_of_table):
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_records(path, "t.csv", *options, **options_of_table)

    return read_text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_separator_and_line_end_gives_the_same_records(read, separator, end):
    records = read(written(ROWS, separator=separator, end=end))
    assert records.header == HEADER
    assert records.rows == ROWS
    assert records.lines == list(range(2, 32))


def test_two_quotes_that_are_never_closed_swallow_no_rows(read):
    rows = with_cell(10, 1, '"large', with_cell(20, 1, '"small'))
    with pytest.raises(ValueError, match=r"^t\.csv, line 12: .*quote"):
        read(written(rows))


def test_a_quote_that_is_never_closed_is_named_where_it_begins(read):
    with pytest.raises(ValueError, match=r"^t\.csv, line 12: unexpected end of data"):
        read(written(with_cell(10, 2, '"large')))


def test_quotes_inside_a_text_stay(read):
    records = read(written(with_cell(10, 1, '12" pipe')))
    assert records.rows[10][1] == '12" pipe'


def test_blanks_around_quoted_fields_do_not_matter(read):
    assert read('"a" , "b"\n "1 , 2" , "x ""y"" , z"\n').rows == [["1 , 2", 'x "y" , z']]


def test_a_record_of_several_lines_is_named_by_its_first(read):
    records = read(written(with_cell(3, 1, '"two\nlines"')))
    assert records.rows[3][1] == "two\nlines"
    assert records.lines[3:5] == [5, 7]


def test_separators_inside_a_quoted_header_do_not_count(read):
    _, _, rows = written(ROWS, separator=";").partition("\n")
    records = read(f'"length, cm";"width, cm";kind\n{rows}')
    assert records.header == ["length, cm", "width, cm", "kind"]
    assert records.rows == ROWS


def test_rows_of_empty_fields_keep_their_place_and_blank_lines_have_none(read):
    text = written(ROWS).replace("3.5,n3,yes\n", ",,\n\n")
    records = read(text)
    assert records.rows[3] == ["", "", ""]
    assert records.rows[4] == ROWS[4]


def test_the_separator_that_a_spreadsheet_declares_is_used(read):
    assert read("sep=;\n" + written(ROWS, separator=";")).rows == ROWS


def test_long_fields_are_read(read):
    assert read(written(with_cell(5, 1, "lorem " * 50_000 + "end"))).rows[5][1].endswith("end")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv: the file is empty"),
        ("1,2\n3,4\n", "line 1: numbers only"),
        ("a,,b\n1,2,3\n", "line 1: column 2 has no name"),
        ("a,b,a\n1,2,3\n", "line 1: columns 1 and 3 are both called 'a'"),
        ("a,b\n1,2,3\n", "line 2: 3 fields, the header has 2"),
        ("# note\na,b\n1,2\n", "line 2: 2 fields, the header has 1; is its first line a comment"),
        ("a,b\n1,\0\n", "line 1: not UTF-8 text but perhaps UTF-16"),
        ("a,b\n1,ö\n".encode("latin-1"), "line 2: not UTF-8 text; save the CSV in UTF-8"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(read, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_what_spreadsheets_save_is_read(read, encoding):
    text = written(with_cell(1, 1, "größe")).replace("2.5,n2,no", "2.5,n2")
    records = read(text.encode(encoding), SPREADSHEET, fill_short_rows=True)
    assert records.rows[1][1] == "größe"
    assert records.rows[2] == ["2.5", "n2", ""]


def test_a_header_is_parsed_as_its_rows_are():
    assert read_header(['"height, cm",y,age\n'], "t.csv") == ["height, cm", "y", "age"]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1).map(str.strip)


@given(st.lists(st.tuples(cells, cells), min_size=1))
def test_what_the_standard_library_writes_is_read_back(tmp_path_factory, rows):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([("first", "second"), *rows])
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(out.getvalue().encode())
    assert [tuple(row) for row in read_records(path, "t.csv").rows] == rows


def test_one_column_has_no_separator():
    assert find_separator("kind\nred\nblue\n") == ","
