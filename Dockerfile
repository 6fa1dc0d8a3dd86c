# syntax=docker/dockerfile:1
# onecopy as a container: docker build -t onecopy .
# packaging/README.md says how to run it.
ARG RUST_VERSION=1.89

FROM rust:${RUST_VERSION}-slim-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY crates crates
# The image brings the C compiler that zstd and ring need. The caches stay on the building machine.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package onecopy && \
    install -D target/release/onecopy /out/onecopy && \
    install -d -o 65532 -g 65532 /out/data

# glibc, libgcc and certificates; no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY LICENSE /usr/share/doc/onecopy/LICENSE
COPY --from=build /out/onecopy /usr/bin/onecopy
COPY --from=build --chown=65532:65532 /out/data /data
WORKDIR /data
USER 65532:65532
EXPOSE 7171
ENTRYPOINT ["/usr/bin/onecopy"]
CMD ["--help"]
