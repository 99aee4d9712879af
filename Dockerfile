# The command and its service, not as root: what to run with it is in docs/servers.md.
#
#     docker build --tag xlagraph .
#     docker run --rm --volume "$PWD:/work" xlagraph ingest runs
FROM python:3.13-slim AS build
COPY . /sources
RUN python -m venv /opt/xlagraph \
    && /opt/xlagraph/bin/pip install --no-cache-dir --no-compile \
        --constraint /sources/constraints.txt "/sources[serve,mcp,proto]" \
    && /opt/xlagraph/bin/pip uninstall --yes pip \
    # Arrow's RPC and what C++ is compiled with: 40 MiB that nothing here loads
    && find /opt/xlagraph/lib/python*/site-packages/pyarrow \
        \( -name include -o -name tests -o -name '*flight*.so*' \) -prune -exec rm -r {} +

FROM python:3.13-slim
LABEL org.opencontainers.image.title="xlagraph" \
      org.opencontainers.image.description="XLA memory plans as a property graph" \
      org.opencontainers.image.licenses="MIT"
RUN useradd --uid 10001 --create-home xlagraph \
    && install --directory --owner=xlagraph /work
COPY --from=build /opt/xlagraph /opt/xlagraph
ENV PATH=/opt/xlagraph/bin:$PATH
USER 10001
WORKDIR /work
ENTRYPOINT ["xlagraph"]
CMD ["--help"]
