import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";

export const profiles = ["default", "full"] as const;
export type Profile = (typeof profiles)[number];

/** `node --disable-warning=… <script> [argument…]`, the form of all our commands. */
const OwnCommand = z.tuple([z.literal("node"), z.string().startsWith("--"), z.string()], z.string());
const Command = z.union([OwnCommand, z.tuple([z.literal("start")], z.string()).transform(() => undefined)]);

/** With further names of the container in each network. */
const Networks = z.union([
  z.array(z.string()).transform((names) => names.map((name) => ({ name, aliases: [] as string[] }))),
  z
    .record(z.string(), z.strictObject({ aliases: z.array(z.string()) }))
    .transform((networks) => Object.entries(networks).map(([name, { aliases }]) => ({ name, aliases }))),
]);

const Container = z.object({
  profiles: z.array(z.enum(profiles)).optional(),
  image: z.string().optional(),
  build: z.object({ target: z.string() }).optional(),
  entrypoint: z.array(z.string()).optional(),
  command: Command.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string().regex(/^[a-z-]+:\/[a-z/]+(:ro)?$/, "is not volume:folder")).default([]),
  networks: Networks.default([]),
  network_mode: z.literal("none").optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, "is not published on 127.0.0.1 alone")).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
});
export type Container = z.infer<typeof Container>;

const Compose = z.object({
  services: z.record(z.string(), Container),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.unknown()),
});
export type Compose = z.infer<typeof Compose>;

/** Text of the file, with values for its variables. */
export function readComposeText(variables: Readonly<Record<string, string>>): string {
  return readFileSync(join(rootFolder, "deploy/compose/compose.yaml"), "utf8").replaceAll(
    /\$\{([A-Z_]+)(?::(?:\?[^}]*|-([^}]*)))?\}/g,
    (_, name: string, fallback: string | undefined) => {
      const value = variables[name] ?? fallback;
      if (value === undefined) throw new TypeError(`compose.yaml asks for ${name}`);
      return value;
    },
  );
}

/**
 * Reads the containers of a profile.
 *
 * @param variables values for `${NAME}`, `${NAME:?message}` and `${NAME:-default}`
 * @throws TypeError when a variable is missing; ZodError when the file has another form
 */
export function readCompose(variables: Readonly<Record<string, string>>, profile: Profile): Compose {
  const { services, ...compose } = Compose.parse(parse(readComposeText(variables), { merge: true }));
  const started = Object.entries(services).filter(([, container]) => container.profiles?.includes(profile) ?? true);
  return { ...compose, services: Object.fromEntries(started) };
}

/** Addresses in a container's environment; a host may be a pattern with `*`. */
export function parseAddresses({
  environment,
}: Container): { readonly variable: string; readonly host: string; readonly port: string }[] {
  return Object.entries(environment).flatMap(([variable, text]) =>
    [...text.matchAll(/\b(?:https?|postgresql|smtp):\/\/(?:[^@/\s"]+@)?(?!0\.0\.0\.0)([a-z0-9.*-]+):(\d+)/g)].map(
      ([, host = "", port = ""]) => ({ variable, host, port }),
    ),
  );
}

export interface Image {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

/** What the Dockerfile gives each container of a target, with what it takes from earlier stages. */
export function readImage(target: string): Image {
  const stage = readFileSync(join(rootFolder, "Dockerfile"), "utf8")
    .split(/^(?=FROM )/m)
    .find((text) => text.split("\n")[0]?.endsWith(` AS ${target}`));
  if (stage === undefined) return { environment: {}, command: [] }; // an image of others
  const [, base = ""] = /^FROM (\S+)/.exec(stage) ?? [];
  const [, assignments = ""] = /^ENV (.+)$/m.exec(stage) ?? [];
  const [, command] = /^CMD (.+)$/m.exec(stage) ?? [];
  const inherited = readImage(base);
  return {
    environment: {
      ...inherited.environment,
      ...Object.fromEntries(
        [...assignments.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
      ),
    },
    command: command === undefined ? inherited.command : z.array(z.string()).parse(JSON.parse(command)),
  };
}

/** Ports of images that are not ours. */
const portsOfImages: Readonly<Record<string, string>> = {
  postgres: "5432",
  "axllent/mailpit": "1025",
  "quay.io/keycloak/keycloak": "8080",
  "andrewgaul/s3proxy": "80",
  caddy: "443",
};

/** Port, from the environment or the image; null when nothing listens. */
export function findListeningPort(container: Container | undefined): string | null {
  if (container === undefined) return null;
  const { image, build, environment } = container;
  const [imageName = ""] = image?.split(":") ?? [];
  if (imageName in portsOfImages) return portsOfImages[imageName] ?? null;
  const allVariables = { ...(build === undefined ? {} : readImage(build.target).environment), ...environment };
  return Object.entries(allVariables).find(([name]) => /^(API|IDENTITY|GATEWAY|REMOTE)_PORT$/.test(name))?.[1] ?? null;
}
