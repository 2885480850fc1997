# Keyfold as a small image that runs as nobody in particular.
#
#   docker build -t keyfold .
#   docker run -p 4000:4000 -v ./schema.graphql:/keyfold/schema.graphql:ro -e AWS_REGION=eu-central-1 keyfold
#   docker run -p 4000:4000 keyfold dev --listen 0.0.0.0:4000      # the sample system in memory

# The C compiler that the embedded store's SQLite and ring need is part of this image.
FROM rust:1-slim-bookworm AS build
WORKDIR /build
COPY . .
# The caches live beside the layers, so that a changed line does not build every dependency anew; the result is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/build/target \
    cargo build --release --locked && cp target/release/keyfold /keyfold

FROM debian:bookworm-slim
# Certificates, to trust AWS.
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
