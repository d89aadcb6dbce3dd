import { existsSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import { parseAddresses, findListeningPort, readCompose, type Container } from "./compose.ts";

const compose = readCompose({ POSTGRES_PASSWORD: "a-password" });
const containers = Object.entries(compose.services);
const publishedPorts = new Map(
  containers.flatMap(([name, { ports }]) =>
    ports.map((text) => [text.split(":")[1] ?? "", { name, containerPort: text.split(":")[2] ?? "" }]),
  ),
);

const shareNetwork = (left: Container, right: Container): boolean =>
  left.networks.some((network) => right.networks.includes(network));
const matchContainers = (host: string): [string, Container][] =>
  containers.filter(([name]) => new RegExp(`^${host.replace("*", ".+")}$`).test(name));

describe("docker-compose.yml", () => {
  it("requires a database password", () => {
    expect(() => readCompose({})).toThrow("POSTGRES_PASSWORD");
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
      expect.arrayContaining(["postgres", "identity", "service", "remote-*", "localhost"]),
    );
  });

  it("names scripts, volumes, networks and containers that exist", () => {
    expect(containers.length).toBeGreaterThan(5);
    for (const [name, { command, volumes, networks, depends_on }] of containers) {
      if (command !== undefined) expect([name, existsSync(join(rootFolder, command[2]))]).toEqual([name, true]);
      for (const volume of volumes)
        expect([name, Object.keys(compose.volumes)]).toEqual([name, expect.arrayContaining([volume.split(":")[0]])]);
      for (const network of networks)
        expect([name, Object.keys(compose.networks)]).toEqual([name, expect.arrayContaining([network])]);
      for (const dependency of Object.keys(depends_on))
        expect([name, Object.keys(compose.services)]).toEqual([name, expect.arrayContaining([dependency])]);
    }
  });

  it("has a container for each remote", () => {
    expect(new Map(matchContainers("remote-*").map(([name, { build }]) => [name, build?.args?.["REMOTE"]]))).toEqual(
      new Map(remoteNames.map((name) => [`remote-${name}`, name])),
    );
  });

  it("gives each private key to one container", () => {
    const keyMounts = containers.flatMap(([name, { volumes }]) =>
      volumes.filter((volume) => volume.includes(":/keys")).map((volume) => [volume.split(":")[0], name]),
    );
    expect(keyMounts).toEqual([
      ["identity-keys", "identity"],
      ["service-keys", "service"],
      ["portal-keys", "deployment-signer"],
    ]);
  });
});
