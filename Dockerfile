# A static binary in an image with roots of trust and a folder it may write, /data. Built by `docker build -t weir .`; listens on
# 8080 and wants an admin secret. The image of a release has a ready binary: packaging/image/Dockerfile.
FROM node:22-alpine AS console
WORKDIR /src/console
COPY console/ ./
RUN npm ci --no-audit --no-fund && npm run build

FROM rust:1-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
COPY --from=console /src/console/dist console/dist
RUN cargo build --locked --profile dist --bin weir && cp target/dist/weir /weir && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /weir /usr/bin/weir
COPY --from=build --chown=65532:65532 /data /data
WORKDIR /data
USER 65532:65532
EXPOSE 8080
# WEIR_ADMIN_SECRET has to be set: Weir refuses to listen off loopback without one.
ENTRYPOINT ["/usr/bin/weir"]
CMD ["serve", "/config/weir.yaml", "--listen", "0.0.0.0:8080"]
