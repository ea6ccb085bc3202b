"""the report judges it: all verdicts in one table, the first page of `snakemake --report`."""


rule verdicts:
    input:
        tables=[f"{RESULTS}/{a.paper}/{a.name}/table.csv" for a in judged_artifacts()],
        printed=printed_values(judged_artifacts()),
        library=library("verdicts.judge", "verdicts.page"),
    output:
        csv=f"{RESULTS}/verdicts.csv",
        md=f"{RESULTS}/verdicts.md",
        html=report(
            f"{RESULTS}/verdicts.html",
            caption="../report/verdicts.rst",
            category=" Verdicts",
            labels={
                "what": "Every claim and every published value",
                "kind": "table",
                "by": "all papers",
            },
        ),
    log:
        f"{LOGS}/verdicts.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        files=[file_of(a) for a in judged_artifacts()],
        judged=[judged(a) for a in judged_artifacts()],
    message:
        "Judge every artifact against what was printed and claimed"
    shell:
        "python {SCRIPTS}/verdict.py --artifacts {params.files} --tables {input.tables}"
        " --scale {SCALE} --csv {output.csv} --html {output.html} --md {output.md} > {log} 2>&1"
