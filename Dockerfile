# Debian 12 with all that the build needs. The checkout lies in /tessera, and `tools/dev` is the entry:
#   docker build -t tessera . && docker run -v tessera-cache:/root/.cache/tessera tessera test --quick
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
WORKDIR /tessera
# Set-up reads tools/ alone: a change elsewhere keeps this layer.
COPY tools tools
RUN tools/dev setup && rm -rf /var/lib/apt/lists/*
COPY . .
ENTRYPOINT ["tools/dev"]
CMD ["help"]
