# A small image of Keyfold, which runs as an unprivileged user.
#
#   docker build -t keyfold .
#   docker run -p 4000:4000 -v ./schema.graphql:/keyfold/schema.graphql:ro -e AWS_REGION=eu-central-1 keyfold
#   docker run -p 127.0.0.1:4000:4000 keyfold dev --listen 0.0.0.0:4000      # the sample data in memory

# The files of GraphiQL, for the binary.
FROM node:22-slim AS console
WORKDIR /console
COPY console .
RUN npm ci --omit=dev

# This image has the C compiler that SQLite and ring need.
FROM rust:1-slim-bookworm AS build
WORKDIR /build
COPY . .
COPY --from=console /console/embedded console/embedded
# The caches are mounts, so that a changed line does not rebuild every dependency. The binary is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/build/target \
    cargo build --release --locked && cp target/release/keyfold /keyfold

FROM debian:bookworm-slim
# Certificates for TLS connections to AWS.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /keyfold --create-home keyfold
COPY --from=build /keyfold /usr/local/bin/keyfold
WORKDIR /keyfold
COPY schema.graphql ./
COPY samples samples
USER keyfold
EXPOSE 4000
ENTRYPOINT ["keyfold"]
CMD ["serve"]
