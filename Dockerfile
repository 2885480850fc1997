# A static binary on an image without a shell. It runs as an unprivileged user, and writes to no file.
#
#   docker build -t keyfold .
#   docker run -p 4000:4000 -v ./schema.graphql:/keyfold/schema.graphql:ro -e AWS_REGION=eu-central-1 keyfold
#   docker run -p 127.0.0.1:4000:4000 keyfold dev --listen 0.0.0.0:4000      # the sample data in memory
#
# It needs BuildKit, which Docker has used since version 23. docs/deploy/ has guides that use the image.

# The files of GraphiQL, for the binary.
FROM --platform=$BUILDPLATFORM node:22-slim AS console
WORKDIR /console
COPY console .
RUN npm ci --omit=dev

# Alpine's C library is musl, so the binary needs no library of the system. The image has the C compiler that SQLite and ring need.
FROM rust:1-alpine AS build
ARG TARGETARCH
WORKDIR /build
COPY . .
COPY --from=console /console/embedded console/embedded
# The caches are mounts, so that a changed line does not rebuild every dependency. The binary is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,id=keyfold-target-$TARGETARCH,target=/build/target \
    cargo build --profile dist --locked \
    && install -D target/dist/keyfold "/binaries/$TARGETARCH/keyfold"

# It has certificates for TLS connections to AWS, a user "nonroot" and nothing to run.
FROM gcr.io/distroless/static-debian13:nonroot
ARG TARGETARCH
LABEL org.opencontainers.image.title="Keyfold" \
    org.opencontainers.image.description="A GraphQL gateway for DynamoDB single-table designs" \
    org.opencontainers.image.licenses="MIT OR Apache-2.0"
WORKDIR /keyfold
# The allocator gives memory back at once, so that no attack takes much of it (docs/measurements.md).
ENV MIMALLOC_PURGE_DELAY=0
# A release takes its own binaries instead of the stage: `--build-context build=DIR` with DIR/binaries/amd64/keyfold.
COPY --from=build /binaries/$TARGETARCH/keyfold /usr/local/bin/keyfold
COPY schema.graphql ./
COPY samples samples
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 4000
# Orchestrators have probes of their own: /health/live and /health/ready.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/usr/local/bin/keyfold", "health"]
ENTRYPOINT ["/usr/local/bin/keyfold"]
CMD ["serve"]
