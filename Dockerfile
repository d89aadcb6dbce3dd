# The images of deploy/compose/compose.yaml. Private keys are made in volumes at the first start; the teams' keys stay in the build stage, which takes those of this checkout (.data/keys/team-*.json) or makes some.

FROM node:24-bookworm-slim AS base
WORKDIR /relicario
ENV CI=true NODE_ENV=production

FROM base AS build
ENV NODE_ENV=development
COPY . .
RUN npx --yes pnpm@12.21.0 install --frozen-lockfile \
 && node --disable-warning=ExperimentalWarning tooling/src/bundle/build.ts \
 && node --disable-warning=ExperimentalWarning tooling/src/containers/collect-releases.ts /built-releases \
 && node --disable-warning=ExperimentalWarning tooling/src/containers/list-server-packages.ts > /server-packages

FROM base AS dependencies
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY api/package.json api/
COPY shared/package.json shared/
COPY tooling/package.json tooling/
COPY --from=build /server-packages /
# Keeps the packages that the servers load: others belong to pages, and a second Node and a database server to `npm start`.
RUN npx --yes pnpm@12.21.0 install --frozen-lockfile --prod --no-optional --filter @relicario/api... --filter @relicario/tooling... \
 && cd node_modules/.pnpm && ls | grep --invert-match --line-regexp --fixed-strings --file=/server-packages | grep --invert-match --line-regexp --regexp=node_modules --regexp=lock.yaml | xargs rm -rf && cd ../.. \
 && rm -rf /root/.cache /root/.npm /root/.local \
 && mkdir -p /keys /objects /outbox /deployments /releases \
 && chown -R node:node /keys /objects /outbox /deployments /releases

# Service, identity provider, gateway and deployment signer: one image, four commands.
FROM dependencies AS system
COPY shared/src shared/src
COPY api api
COPY tooling tooling
COPY --from=build /relicario/host/dist host/dist
COPY --from=build /built-releases /built-releases
USER node
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "--disable-warning=ExperimentalWarning", "tooling/src/containers/health.ts"]

# The static server of a remote, which serves its releases from the registry.
FROM dependencies AS remote
COPY shared/src shared/src
COPY tooling tooling
USER node
ENV REMOTE_HOST=0.0.0.0 REMOTE_PORT=8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "--disable-warning=ExperimentalWarning", "tooling/src/containers/health.ts"]
CMD ["node", "--disable-warning=ExperimentalWarning", "tooling/src/serve/remote-main.ts"]
