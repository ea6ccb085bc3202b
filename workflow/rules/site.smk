"""the site shows it: a page for every figure and table, made from finished files only, to open without a server."""


rule site:
    input:
        results=PLAN.promised(""),
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
        code=code_digest.stamped("scripts/site.py"),
        texts=PLAN.texts_digest(),
        config=CONFIG,
    message:
        f"Write the pages: site/{PLAN.folder}/index.html"
    shell:
        "python -P -m scripts.site --config {params.config:q} > {log:q} 2>&1"
