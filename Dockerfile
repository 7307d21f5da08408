# rwk on the CPU. Build: docker build -t rwk .    Use: docker run --rm -v "$PWD:/data" rwk align a.graphml b.graphml
# The solver is compiled for the processor of the machine that builds the image; on another kind it is compiled again.
FROM python:3.12-slim

ENV NUMBA_CACHE_DIR=/opt/rwk/numba \
    RWK_CACHE=/opt/rwk/datasets \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

COPY pyproject.toml constraints.txt README.md LICENSE /src/
COPY src /src/src
RUN pip install -c /src/constraints.txt '/src[plot,molecules]' && rm -r /src

# any user may run the image, and add compiled code and datasets
RUN rwk warmup && mkdir -p "$RWK_CACHE" && chmod -R a+rwX /opt/rwk && useradd --create-home rwk
USER rwk
WORKDIR /data
ENTRYPOINT ["rwk"]
CMD ["--help"]
