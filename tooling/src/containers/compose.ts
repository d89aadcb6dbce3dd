import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";

/** `node --disable-warning=… <script> [argument…]`, the form of all our commands. */
const Command = z.tuple([z.literal("node"), z.string().startsWith("--"), z.string()], z.string());

const Container = z.object({
  image: z.string().optional(),
  build: z.object({ target: z.string(), args: z.record(z.string(), z.string()).optional() }).optional(),
  command: Command.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string().regex(/^[a-z-]+:\/[a-z/]+(:ro)?$/, "is not volume:folder")).default([]),
  networks: z.array(z.string()).default([]),
  network_mode: z.literal("none").optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, "is not published on 127.0.0.1 alone")).default([]),
  depends_on: z.record(z.string(), z.unknown()).default({}),
});
export type Container = z.infer<typeof Container>;

const Compose = z.object({
  services: z.record(z.string(), Container),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.unknown()),
});
export type Compose = z.infer<typeof Compose>;

/**
 * @param variables values for `${NAME}`, `${NAME:?message}` and `${NAME:-default}`
 * @throws TypeError when a variable is missing; ZodError when the file has another form
 */
export function readCompose(variables: Readonly<Record<string, string>>): Compose {
  const text = readFileSync(join(rootFolder, "docker-compose.yml"), "utf8").replaceAll(
    /\$\{([A-Z_]+)(?::(?:\?[^}]*|-([^}]*)))?\}/g,
    (_, name: string, fallback: string | undefined) => {
      const value = variables[name] ?? fallback;
      if (value === undefined) throw new TypeError(`docker-compose.yml asks for ${name}`);
      return value;
    },
  );
  return Compose.parse(parse(text, { merge: true }));
}

/** Addresses in a container's environment; a host may be a pattern with `*`. */
export function parseAddresses({
  environment,
}: Container): { readonly variable: string; readonly host: string; readonly port: string }[] {
  return Object.entries(environment).flatMap(([variable, text]) =>
    [...text.matchAll(/\b(?:https?|postgresql):\/\/(?:[^@/\s"]+@)?([a-z0-9.*-]+):(\d+)/g)].map(
      ([, host = "", port = ""]) => ({ variable, host, port }),
    ),
  );
}

/** Port, from the environment or the image; null when nothing listens. */
export function findListeningPort(container: Container | undefined): string | null {
  if (container === undefined) return null;
  const { image, build, environment } = container;
  if (image?.startsWith("postgres:") === true) return "5432";
  if (build?.target === "remote")
    return /REMOTE_PORT=(\d+)/.exec(readFileSync(join(rootFolder, "Dockerfile"), "utf8"))?.[1] ?? null;
  return Object.entries(environment).find(([name]) => /^(API|IDENTITY|GATEWAY)_PORT$/.test(name))?.[1] ?? null;
}
