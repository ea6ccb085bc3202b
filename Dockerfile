# The project in a container, from the lock with hashes:   docker build -t noisylabels .
#   docker run --rm -v "$PWD/out:/out" noisylabels                  every artifact at smoke scale; the pages are in out/site
#   docker run --rm -v "$PWD/out:/out" noisylabels --cores 2        the papers' full protocol; any arguments of ./run
FROM python:3.13-slim-bookworm AS base
ENV PYTHON=/usr/local/bin/python3.13

FROM base
ENV NOISYLABELS_VENV=/opt/venv
WORKDIR /noisylabels
COPY . .
RUN ./run -n >/dev/null && useradd --create-home user && mkdir /out && chown -R user: /noisylabels /opt/venv /out
USER user
# Results, figures and pages go to the mounted folder when the run ends, also when it fails.
ENTRYPOINT ["bash", "-c", "./run \"$@\"; status=$?; cp -r results figures site /out/; exit $status", "run"]
