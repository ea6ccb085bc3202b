"""the site shows it: the page of the run, written before the first job, after each paper and at the end."""

for paper in sorted({name.partition("/")[0] for name in PLAN.shown}):

    rule:
        name:
            f"page_after_{paper}"
        input:
            settled(
                [
                    file
                    for name in PLAN.artifacts_below(f"{paper}/")
                    for file in PLAN.drawings(name)
                ]
            ),
        output:
            touch(f"{LOGS}/{paper}/page.txt"),
        log:
            f"{LOGS}/{paper}/page.log",
        localrule: True
        params:
            page=PAGE_RECORD,
        message:
            f"Show {paper} on the page of the run"
        shell:
            "python -P -m scripts.run_page {params.page:q} > {log:q} 2>&1"


rule site:
    input:
        key=f".cache/keys/site/{PLAN.folder}/record.json",
        results=settled(PLAN.promised("")),
        archived=settled(steps.archived_drawings()),
        papers=settled(steps.list_page_marks(PLAN)),
    output:
        index=f"site/{PLAN.folder}/index.html",
        record=f"site/{PLAN.folder}/record.json",
    log:
        f"{LOGS}/site.log",
    localrule: True
    params:
        page=PAGE_RECORD,
    message:
        f"Write the page of the run: site/{PLAN.folder}/index.html"
    shell:
        "python -P -m scripts.run_page {params.page:q} --key {input.key:q} --record {output.record:q} > {log:q} 2>&1"
