/**
 * The vault's origin, next to the portal's: one gateway tells them apart by the request's host.
 * Nothing of a remote but the one that brings the vault is served here.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";

import { negotiate } from "@fastify/accept-negotiator";
import fastifyStatic from "@fastify/static";
import { vaultRemote, type Drives, type VaultPage } from "@relicario/shared/contract";
import type { FastifyInstance } from "fastify";

import { getErrorCode } from "../error-code.ts";
import type { ProxyTrustCheck } from "../http/address.ts";
import type { ClientLimiter } from "./client-limiter.ts";
import type { DeploymentReader } from "./deployments.ts";
import { integrityPolicy, type VaultPolicy } from "./headers.ts";
import { createHostPageReader } from "./host-page.ts";
import type { LogFailure } from "./log-failure.ts";
import { sendProblem } from "../http/problem.ts";
import { createReleaseFileReader } from "./release-files.ts";
import { releaseResponseRules } from "./response-allow-list.ts";

/** Routes with it exist only at the vault's origin, all others only at other hosts. */
export const atVault = { constraints: { vault: "vault" } } as const;

type Strategy = Parameters<FastifyInstance["addConstraintStrategy"]>[0];
type Handler = Parameters<ReturnType<Strategy["storage"]>["set"]>[1];

export function createVaultConstraint(isForVault: (request: IncomingMessage) => boolean): Strategy {
  return {
    name: "vault",
    mustMatchWhenDerived: true,
    storage: () => {
      const handlers = new Map<unknown, Handler>();
      return {
        get: (value) => handlers.get(value) ?? null,
        set: (value, handler) => {
          handlers.set(value, handler);
        },
      };
    },
    deriveConstraint: (request: IncomingMessage) => (isForVault(request) ? atVault.constraints.vault : undefined),
  };
}

/**
 * Returns a check whether a request is for the vault's origin: by `X-Forwarded-Host` of a trusted
 * proxy, otherwise by `Host`.
 */
export function createVaultHostCheck(
  vaultOrigin: string,
  isTrusted: ProxyTrustCheck,
): (request: IncomingMessage) => boolean {
  const { protocol, host: vaultHost } = new URL(vaultOrigin);
  return ({ headers, socket }) => {
    const forwardedHost = isTrusted(socket.remoteAddress ?? "", 0) ? headers["x-forwarded-host"] : undefined;
    const host = [forwardedHost ?? headers.host ?? ""].flat().join().split(",").at(-1)?.trim() ?? "";
    return host === vaultHost || URL.parse(`${protocol}//${host}`)?.host === vaultHost; // without its default port
  };
}

const fileTypes = new Map([
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["json", "application/json; charset=utf-8"],
  ["wasm", "application/wasm"],
  ["woff2", "font/woff2"],
  ["txt", "text/plain; charset=utf-8"], // content of the kits that people create
]);
const fileDestinations = [...releaseResponseRules.destinations, "worker"];
const immutable = "public, max-age=31536000, immutable";

export async function registerVaultRoutes(
  app: FastifyInstance,
  {
    folder,
    page,
    buildPolicy,
    readDrives,
    deployments,
    releasesAddress,
    limiter,
    logFailure,
  }: {
    /** `host/dist/vault`. */
    readonly folder: string;
    readonly page: VaultPage;
    readonly buildPolicy: VaultPolicy;
    readonly readDrives: () => Drives;
    readonly deployments: DeploymentReader;
    /** Base URL of the static server with the releases of the vault's remote; null without one. */
    readonly releasesAddress: string | null;
    readonly limiter: ClientLimiter;
    readonly logFailure: LogFailure;
  },
): Promise<void> {
  for (const name of ["controller", "element"]) {
    const preloadsDeployment = name === "controller"; // an element asks the controller
    const readPage = createHostPageReader(join(folder, `${name}.html`), page, { preloadsDeployment });
    readPage(); // fails at the start, not for the first visitor
    app.get(`/${name}`, atVault, (request, reply) => {
      // The browser knows which domains are public suffixes.
      if (request.headers["sec-fetch-site"] === "cross-site") return sendProblem(reply, 403, "forbidden", "Forbidden");
      const nonce = name === "element" ? randomBytes(16).toString("base64url") : null;
      return reply
        .headers(integrityPolicy)
        .headers(nonce === null ? {} : { "content-security-policy": buildPolicy({ nonce, drives: readDrives() }) })
        .header("cache-control", nonce === null ? "no-cache" : "no-store")
        .type("text/html; charset=utf-8")
        .send(readPage().render(nonce ?? "", null));
    });
  }
  const readSignedIn = createHostPageReader(join(folder, "signed-in.html"), page, { preloadsDeployment: false });
  app.get("/signed-in", atVault, (_request, reply) =>
    reply.header("cache-control", "no-cache").type("text/html; charset=utf-8").send(readSignedIn().render("", null)),
  );
  app.get("/signed-in.js", atVault, (_request, reply) =>
    reply
      .header("cache-control", "no-cache")
      .type("text/javascript; charset=utf-8")
      .send(readFileSync(join(folder, "signed-in.js"))),
  );
  await app.register(fastifyStatic, {
    ...atVault,
    root: join(folder, "static"),
    prefix: "/static/",
    index: false,
    dotfiles: "deny",
    preCompressed: true,
    immutable: true,
    maxAge: "365d",
    decorateReply: false,
  });

  if (releasesAddress === null) return;
  const files = createReleaseFileReader(releasesAddress);
  app.addHook("onClose", files.close);
  await app.register(async (scope) => {
    limiter.queueCalls(scope);
    scope.get<{ Params: { release: string; "*": string } }>(
      `/r/${vaultRemote}/:release/*`,
      atVault,
      async (request, reply) => {
        const {
          params: { release, "*": path },
          headers,
        } = request;
        const destination = headers["sec-fetch-dest"];
        if (destination !== undefined && !fileDestinations.includes(destination))
          return sendProblem(reply, 403, "forbidden", "Forbidden");
        const type = fileTypes.get(path.split(".").at(-1) ?? "");
        const integrity = deployments.getVaultFiles(page.vendor_id).get(release)?.get(path);
        if (type === undefined || integrity === undefined) return sendProblem(reply, 404, "not_found", "Not found");
        const endWork = limiter.retainForUpstream(request);
        try {
          const coding = negotiate(headers["accept-encoding"] ?? "", ["br", "gzip"]);
          const file = await files.read({ path: `${release}/${path}`, integrity, coding });
          if (file.coding !== null) void reply.header("content-encoding", file.coding);
          return await reply
            .headers({ "cache-control": immutable, vary: "accept-encoding" })
            .type(type)
            .send(file.bytes);
        } catch (error) {
          logFailure({ upstream: releasesAddress, failure: getErrorCode(error) ?? "unknown" }, request);
          return await sendProblem(reply, 502, "remote_unreachable", "Bad Gateway");
        } finally {
          endWork();
        }
      },
    );
  });
}
