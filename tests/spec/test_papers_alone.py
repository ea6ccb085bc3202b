"""A paper of the repository stands alone: it uses itself, the engine and the library."""

import pytest

from reproduction.spec.papers import HOME, artifact_files, list_papers
from reproduction.spec.strict_yaml import read


@pytest.mark.parametrize("paper", list_papers())
def test_no_artifact_names_a_function_of_another_paper(paper):
    for file in artifact_files(HOME / paper):
        content = read(file)
        for key in ("protocol", "render"):
            module = content.get(key, "stock:").partition(":")[0]
            assert "." not in module, f"{file.name}: {key}: {content[key]}"
