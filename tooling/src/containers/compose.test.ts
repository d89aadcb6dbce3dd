import { existsSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import { addressesIn, listensAt, readCompose, type Container } from "./compose.ts";

const compose = readCompose({ POSTGRES_PASSWORD: "a-password" });
const containers = Object.entries(compose.services);
const published = new Map(
  containers.flatMap(([name, { ports }]) =>
    ports.map((text) => [text.split(":")[1] ?? "", { name, inside: text.split(":")[2] ?? "" }]),
  ),
);

const shareANetwork = (one: Container, other: Container): boolean =>
  one.networks.some((network) => other.networks.includes(network));
/** The containers that a host of an address may be: one, or with `*` all that fit. */
const named = (host: string): [string, Container][] =>
  containers.filter(([name]) => new RegExp(`^${host.replace("*", ".+")}$`).test(name));

describe("docker-compose.yml", () => {
  it("cannot be read without a password of one's own", () => {
    expect(() => readCompose({})).toThrow("POSTGRES_PASSWORD");
  });

  it("lets every container reach each address that it is told of, and somebody listens there", () => {
    const looked = new Set<string>();
    for (const [name, container] of containers) {
      for (const { variable, host, port } of addressesIn(container)) {
        looked.add(host);
        const where = `${name} ${variable} ${host}:${port}`;
        if (host === "localhost") {
          const { name: behind = "", inside } = published.get(port) ?? {};
          expect([where, inside]).toEqual([where, listensAt(compose.services[behind])]);
          continue;
        }
        const targets = named(host);
        expect([where, targets.length > 0]).toEqual([where, true]);
        for (const [, target] of targets)
          expect([where, listensAt(target), shareANetwork(container, target)]).toEqual([where, port, true]);
      }
    }
    expect([...looked]).toEqual(expect.arrayContaining(["postgres", "identity", "service", "remote-*", "localhost"]));
  });

  it("names scripts, volumes, networks and containers that are there", () => {
    expect(containers.length).toBeGreaterThan(5);
    for (const [name, { command, volumes, networks, depends_on }] of containers) {
      if (command !== undefined) expect([name, existsSync(join(rootFolder, command[2]))]).toEqual([name, true]);
      for (const volume of volumes)
        expect([name, Object.keys(compose.volumes)]).toEqual([name, expect.arrayContaining([volume.split(":")[0]])]);
      for (const network of networks)
        expect([name, Object.keys(compose.networks)]).toEqual([name, expect.arrayContaining([network])]);
      for (const other of Object.keys(depends_on))
        expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([other])]);
    }
  });

  it("has a container for each remote", () => {
    expect(new Map(named("remote-*").map(([name, { build }]) => [name, build?.args?.["REMOTE"]]))).toEqual(
      new Map(remoteNames.map((name) => [`remote-${name}`, name])),
    );
  });

  it("gives each private key to one container", () => {
    const holders = containers.flatMap(([name, { volumes }]) =>
      volumes.filter((volume) => volume.includes(":/keys")).map((volume) => [volume.split(":")[0], name]),
    );
    expect(holders).toEqual([
      ["identity-keys", "identity"],
      ["service-keys", "service"],
      ["portal-keys", "deployer"],
    ]);
  });
});
