# The program in a small image, with the bytes of every other package: `scripts/dist` makes them first.
#   docker build -t eclusa .                          (or --platform linux/arm64)
#   docker run --rm -it -v "$PWD:/project" -w /project eclusa doctor
# docs/sandbox.md says which rights the container needs for the level `full`; `doctor` says what is in force.
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends bash ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
ARG TARGETARCH
COPY target/dist-files/eclusa_*_${TARGETARCH}.deb /tmp/
RUN dpkg -i /tmp/eclusa_*.deb && rm /tmp/eclusa_*.deb
ENTRYPOINT ["eclusa"]
CMD ["--help"]
