# The program in a small image. Build: docker build -t eclusa .
# Run over a project: docker run --rm -it -v "$PWD:/project" -w /project eclusa doctor
# Commands run in a sandbox only where the container may make user namespaces; `doctor` says so.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN cargo build --profile dist -p eclusa-cli

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends bash ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/target/dist/eclusa /usr/local/bin/eclusa
ENTRYPOINT ["eclusa"]
CMD ["--help"]
