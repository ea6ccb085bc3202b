"""the site shows it: a page for every figure and table, made from finished files only, to open without a server."""


rule site:
    input:
        results=PLAN.promised(""),
        library=plan.script("site"),
        templates=plan.paths(sorted((LIBRARY / "reproduction/site/templates").iterdir())),
        reference=plan.paths(sorted(ROOT.glob("results/reference/*/*/*.*"))),
    output:
        f"site/{SCALE}/index.html",
    log:
        f"{LOGS}/site.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        config=json.dumps(config, sort_keys=True),
    message:
        "Write the pages: site/{SCALE}/index.html"
    shell:
        "{WARM} site.py --config {params.config:q} > {log:q} 2>&1"
