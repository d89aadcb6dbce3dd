/** The programs of the images that compose.yaml names, as this machine runs them. */
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { installKeycloak, keycloakVersion } from "../../keycloak/keycloak.ts";
import { rootFolder } from "../../paths.ts";
import { installGoProgram } from "../../test/go-program.ts";
import { downloadS3Proxy } from "../../test/s3proxy.ts";
import { readImage, type Container } from "../compose.ts";

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface ContainerSettings {
  readonly container: Container;
  /** A folder for the container's file system. */
  readonly root: string;
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
}

const deployFolder = join(rootFolder, "deploy");

/** By image. Another tag needs another version here. */
const programsOfImages: Readonly<Record<string, (settings: ContainerSettings) => Promise<Program>>> = {
  "axllent/mailpit:v1.27": async ({ address, environment }) => ({
    program: await installGoProgram("github.com/axllent/mailpit", "v1.27.11"),
    args: ["--smtp", `${address}:1025`, "--listen", `${address}:8025`],
    environment,
  }),
  "caddy:2": async ({ root, environment }) => ({
    program: await installGoProgram("github.com/caddyserver/caddy/v2/cmd/caddy", "v2.10.2"),
    args: ["run", "--adapter", "caddyfile", "--config", join(deployFolder, "compose/Caddyfile")],
    environment: { ...environment, XDG_DATA_HOME: join(root, "data"), XDG_CONFIG_HOME: join(root, "config") },
  }),
  "andrewgaul/s3proxy:s3proxy-4.1.0": async ({ environment }) => ({
    program: "java",
    args: [
      "-Xmx512m",
      // as the image's script does
      ...Object.entries(environment).map(
        ([variable, value]) => `-D${variable.toLowerCase().replaceAll("_", ".")}=${value}`,
      ),
      ...["-jar", await downloadS3Proxy(), "--properties", "/dev/null"],
    ],
    environment,
  }),
  [`quay.io/keycloak/keycloak:${keycloakVersion}`]: async ({ container, root, address, environment }) => {
    // a copy, because the first start builds it for the database
    const home = join(root, "opt/keycloak");
    cpSync(await installKeycloak(), home, { recursive: true });
    mkdirSync(join(home, "data/import"), { recursive: true });
    const realm = "relicario-realm.json";
    cpSync(join(deployFolder, "keycloak", realm), join(home, "data/import", realm));
    const [program = "", ...args] = (container.entrypoint ?? []).map((word) =>
      word.replaceAll("$$", "$").replaceAll("/opt/keycloak/bin/kc.sh", `bash ${join(home, "bin/kc.sh")}`),
    );
    // listens on all addresses in its own network; its heap is a share of the machine's memory
    return { program, args, environment: { ...environment, KC_HTTP_HOST: address, JAVA_OPTS_KC_HEAP: "-Xmx768m" } };
  },
};

/** @throws TypeError for an image, or a tag of it, that is not known here */
export async function resolveProgram(settings: ContainerSettings): Promise<Program> {
  const { container, environment } = settings;
  if (container.build !== undefined) {
    const [, ...args] = container.command ?? readImage(container.build.target).command;
    return { program: process.execPath, args, environment };
  }
  const resolve = programsOfImages[container.image ?? ""];
  if (resolve === undefined) throw new TypeError(`no program is known for the image ${container.image ?? ""}`);
  return resolve(settings);
}
