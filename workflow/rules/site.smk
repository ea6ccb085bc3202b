"""the site shows it: the page of the run, written before the first job, after each paper and at the end."""

for paper in sorted({name.partition("/")[0] for name in PLAN.shown}):

    rule:
        name:
            f"page_after_{paper}"
        input:
            [file for name in PLAN.below(f"{paper}/") for file in PLAN.drawings(name)],
        output:
            touch(f"{LOGS}/{paper}/page.txt"),
        log:
            f"{LOGS}/{paper}/page.log",
        localrule: True
        params:
            record=PAGE_RECORD,
        message:
            f"Show {paper} on the page of the run"
        shell:
            "python -P -m scripts.run_page {params.record:q} > {log:q} 2>&1"


rule site:
    input:
        results=PLAN.promised(""),
        papers=[
            f"{LOGS}/{paper}/page.txt"
            for paper in sorted({name.partition("/")[0] for name in PLAN.shown})
        ],
        reference=sorted(
            os.path.relpath(file)
            for pattern in ["results/reference/*/*/*.*", "src/papers/*/*.*"]
            for file in ROOT.glob(pattern)
        ),
    output:
        f"site/{PLAN.folder}/index.html",
    log:
        f"{LOGS}/site.log",
    localrule: True
    params:
        code=code_digest.stamped("scripts/run_page.py"),
        texts=PLAN.texts_digest(),
        record=PAGE_RECORD,
    message:
        f"Write the page of the run: site/{PLAN.folder}/index.html"
    shell:
        "python -P -m scripts.run_page {params.record:q} > {log:q} 2>&1"
