"""results tabulate it: the blocks become one tidy table, with its provenance beside it, and the table is judged."""


rule collect:
    input:
        parts=parts,
        tuned=tuned_parts,
        data=lambda wildcards: prepared(of(wildcards), of(wildcards).settings),
    output:
        table=f"{RESULTS}/{{paper}}/{{artifact}}/table.csv",
        provenance=f"{RESULTS}/{{paper}}/{{artifact}}/provenance.json",
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/collect.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        provenance=provenance,
    message:
        "Collect the results of {wildcards.paper} {wildcards.artifact}"
    shell:
        "python {SCRIPTS}/collect.py --parts {input.parts} --tuned {input.tuned} --data {input.data}"
        " --about {params.provenance:q} --table {output.table} --provenance {output.provenance} > {log} 2>&1"


rule verdict:
    input:
        table=f"{RESULTS}/{{paper}}/{{artifact}}/table.csv",
        printed=lambda wildcards: printed_values([of(wildcards)]),
        library=library("verdicts.judge", "verdicts.page"),
    output:
        f"{RESULTS}/{{paper}}/{{artifact}}/verdicts.csv",
    log:
        f"{LOGS}/{{paper}}/{{artifact}}/verdict.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        file=lambda wildcards: file_of(of(wildcards)),
        judged=lambda wildcards: judged(of(wildcards)),
    message:
        "Judge {wildcards.paper} {wildcards.artifact} against what was printed and claimed"
    shell:
        "python {SCRIPTS}/verdict.py --artifacts {params.file} --tables {input.table}"
        " --scale {SCALE} --csv {output} > {log} 2>&1"
