import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface VaultWithoutOrigin {
  readonly origin: string;
  /** What its element took. */
  readonly passphrase: string;
  /** Runs in its page. */
  readonly startElement: () => void;
  readonly stop: () => Promise<void>;
}

/**
 * A page whose vault has frames of the page's own origin, which trust every message: attacks on the
 * messages between them succeed here, which shows that they can.
 */
export async function startVaultWithoutOrigin(): Promise<VaultWithoutOrigin> {
  const passphrase = "eight small stones";
  const answerAll = `onmessage = ({ data, ports, source }) => {
      ports[0]?.postMessage(${JSON.stringify(passphrase)});
      if (data.kind === "call")
        source.postMessage({ relicario: "channel", kind: "result", id: data.id, value: "draft" }, "*");
    };`;
  const documents: Readonly<Record<string, string>> = {
    "/": `<body></body>`,
    "/healthz": "ok",
    "/controller": `<script>
      relicarioController = { connect: () => Promise.resolve({}) };
      ${answerAll}
    </script>`,
    "/element": `<p>element</p><script>
      ${answerAll}
      const tell = (member, ...args) => parent.postMessage(
        { relicario: "channel", kind: "call", id: 1, service: "elementPage", path: [member], args, options: [] }, "*");
      for (let index = 0; index < parent.length; index++) {
        const access = parent[index].relicarioController;
        if (access !== undefined) { void access.connect(); break; }
      }
      onfocus = () => tell("submit");
      tell("change", { heldId: crypto.randomUUID(), passphrase: ${JSON.stringify(passphrase)} });
      tell("resize", 100, null);
    </script>`,
  };
  const server = createServer((request, response) => {
    const content = documents[request.url ?? ""];
    response.writeHead(content === undefined ? 404 : 200, { "content-type": "text/html" }).end(content);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://localhost:${String((server.address() as AddressInfo).port)}`,
    passphrase,
    startElement: () => {
      for (const path of ["/controller", "/element"]) {
        const frame = document.createElement("iframe");
        frame.src = path;
        if (path === "/element") frame.dataset["vaultElement"] = "picture";
        document.body.append(frame);
      }
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
