import "fake-indexeddb/auto";

import { maxKitContentBytes } from "@relicario/shared/api";
import { bytesToHex } from "@noble/hashes/utils.js";

import { readKitFile } from "../kit/kit-file.ts";
import { contentBeside, contentInside, openKit, takesPassphrase, type OpenedKit } from "../kit/open-kit.ts";
import type { Kit } from "../kit/kit-document.ts";
import { concat, digestOf, type Bytes } from "../seal/bytes.ts";
import { kitFile } from "../testing/kit-files.ts";
import { fileSecret, protectOrder, randomFile, tabWithFirst } from "../testing/uploading.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import { images } from "./examine.ts";
import { list } from "./list.ts";
import { makeKit, type KitParts } from "./make-kit.ts";
import { protect } from "./protect.ts";
import { rotate } from "./rotate.ts";
import { beginUpload, finishUpload } from "./resumable-uploads.ts";
import { update } from "./update.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

function parts(range: KitParts["range"] = () => Promise.reject(new Error("nothing here is large"))): KitParts {
  const sink = () => {
    const written: Bytes[] = [];
    return {
      write: async (bytes: Bytes) => void written.push(bytes),
      commit: async () => new Blob(written),
      discard: async () => undefined,
    };
  };
  return { range, patience: { wait: () => Promise.resolve() }, file: kitFile, openSink: () => Promise.resolve(sink()) };
}

const bytesOf = async (file: Blob): Promise<Bytes> => new Uint8Array(await file.arrayBuffer());

async function opened(
  world: World,
  file: Blob,
  picture = "market",
  passphrase: string | null = null,
): Promise<OpenedKit & { readonly kit: Kit }> {
  const kit = readKitFile(await bytesOf(file));
  return { kit, ...(await openKit(world.engine, kit, shown(picture, passphrase))) };
}

async function textsOf({ secrets }: OpenedKit): Promise<(readonly [title: string, text: string])[]> {
  return Promise.all(
    secrets.map(async (secret) => {
      if (secret === null) throw new Error("damaged");
      return [secret.ticket.title, new TextDecoder().decode(await contentInside(secret))] as const;
    }),
  );
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const all: Uint8Array[] = [];
  for await (const bytes of pieces) all.push(bytes);
  return concat(...all);
}

describe("makeKit", () => {
  it("holds what the picture opens, and opens without service and account", async () => {
    const world = createWorld();
    const vault = await world.open();
    const first = await protect(vault, textSecret("First", shown("market")), {});
    const second = await protect(vault, textSecret("Second"), {});
    const other = await protect(
      vault,
      { ...textSecret("Third"), protection: { kind: "picture", shown: shown("harbour"), name: "The harbour" } },
      {},
    );
    const harbour = (await images(vault)).filter(({ name }) => name === "The harbour").map(({ id }) => id);
    const notMarket = await protect(
      vault,
      { ...textSecret("Fourth"), protection: { kind: "openers", openers: harbour } },
      {},
    );
    const ids = [first, second, other, notMarket].map(({ secretId }) => secretId);
    const made = await makeKit(await world.open(), parts(), ids, shown("market"), { note: "In the drawer" });
    expect(made).toMatchObject({ passphrase: false, beside: [], left: [notMarket.secretId], notVerified: [] });
    expect(made.sha256).toBe(bytesToHex(await digestOf(await bytesOf(made.file))));
    const kit = await opened(world, made.file, "market/small");
    expect(kit.kit.note).toBe("In the drawer");
    expect(takesPassphrase(kit.kit)).toBe(false);
    expect(await textsOf(kit)).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
      ["Third", "content of Third"],
    ]);
    expect(kit.secrets.map((secret) => secret?.author)).toEqual(["verified", "verified", "verified"]);
  });

  it("names itself in every label, and is out of date after an edit, not after a renaming", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", shown("market")), {});
    const { secretId: other } = await protect(vault, textSecret("Second"), {});
    const made = await makeKit(vault, parts(), [secretId, other], shown("market"));
    const kits = async () => new Map((await list(vault)).map((row) => [row.secretId, row.label?.kits]));
    const line = { sha256: made.sha256, madeAt: made.madeAt };
    expect(await kits()).toEqual(
      new Map([
        [secretId, [{ ...line, outdated: false }]],
        [other, [{ ...line, outdated: false }]],
      ]),
    );
    await update(vault, secretId, { baseVersion: 1, title: "Renamed" }, {});
    expect((await kits()).get(secretId)).toEqual([{ ...line, outdated: false }]);
    await update(
      vault,
      secretId,
      {
        baseVersion: 1,
        content: { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob(["two"]) },
      },
      {},
    );
    expect(await kits()).toEqual(
      new Map([
        [secretId, [{ ...line, outdated: true }]],
        [other, [{ ...line, outdated: false }]],
      ]),
    );
    const again = await makeKit(vault, parts(), [secretId], shown("market"));
    expect((await kits()).get(secretId)).toEqual([
      { ...line, outdated: true },
      { sha256: again.sha256, madeAt: again.madeAt, outdated: false },
    ]);
    expect(await textsOf(await opened(world, again.file))).toEqual([["Renamed", "two"]]);
    expect(await textsOf(await opened(world, made.file))).toEqual([
      ["First", "content of First"],
      ["Second", "content of Second"],
    ]);
  });

  it("is out of date once the secret is sealed to another picture", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", shown("market")), {});
    await makeKit(vault, parts(), [secretId], shown("market"));
    const content = {
      contentKind: "text",
      name: "secret.txt",
      mime: "text/plain",
      content: new Blob(["content of First"]),
    } as const;
    await update(
      vault,
      secretId,
      { baseVersion: 1, content, protection: { kind: "picture", shown: shown("harbour"), name: "The harbour" } },
      {},
    );
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: true }]);
  });

  it("is out of date once the account key is another", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", shown("market")), {});
    await makeKit(vault, parts(), [secretId], shown("market"));
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: false }]);
    await rotate(vault, [shown("market")], {});
    expect((await list(vault))[0]?.label?.kits).toMatchObject([{ outdated: true }]);
  });

  it("carries the names of today, signed", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("Before", shown("market")), {});
    await update(vault, secretId, { baseVersion: 1, title: "After", tags: ["new"] }, {});
    const { secrets } = await opened(world, (await makeKit(vault, parts(), [secretId], shown("market"))).file);
    expect(secrets).toMatchObject([{ ticket: { title: "After", tags: ["new"] }, author: "verified" }]);
  });

  it("takes the passphrase of the picture, and says so", async () => {
    const world = createWorld();
    const vault = await world.open();
    const { secretId } = await protect(vault, textSecret("First", shown("market", "correct horse")), {});
    const made = await makeKit(vault, parts(), [secretId], shown("market", "correct horse"));
    expect(made.passphrase).toBe(true);
    await expect(opened(world, made.file, "market", "wrong")).rejects.toEqual(code("not_this_picture_or_passphrase"));
    await expect(opened(world, made.file, "market")).rejects.toEqual(code("not_this_picture_or_passphrase"));
    const kit = await opened(world, made.file, "market", "correct horse");
    expect(takesPassphrase(kit.kit)).toBe(true);
    expect(await textsOf(kit)).toEqual([["First", "content of First"]]);
  });

  it("puts a content over 1 MiB beside itself, sealed", async () => {
    const world = createWorld();
    const { tab, laptop, first } = await tabWithFirst(world);
    const { file, plain } = randomFile(maxKitContentBytes + 1);
    const uploadId = await beginUpload(laptop, tab, protectOrder(fileSecret("Film", file)), {});
    await tab.send(uploadId, file);
    const { secretId: large } = await finishUpload(laptop, tab, uploadId, null, {});
    const made = await makeKit(laptop, parts(tab.calls.range), [first, large], shown("market"));
    expect(made.beside).toMatchObject([{ secretId: large, name: `${large}.age` }]);
    const [beside] = made.beside;
    const kit = await opened(world, made.file);
    const secret = kit.secrets[1];
    if (beside === undefined || secret == null) throw new Error("the large one is missing");
    expect(secret.sealed).toBeNull();
    expect(await gathered(contentBeside(secret, beside.file))).toEqual(plain);
    const changed = await bytesOf(beside.file);
    for (const last of changed.subarray(-1)) changed.set([last ^ 1], changed.length - 1);
    await expect(gathered(contentBeside(secret, new Blob([changed])))).rejects.toEqual(code("digest_mismatch"));
    await expect(gathered(contentBeside(secret, beside.file.slice(0, 70_000)))).rejects.toEqual(
      code("digest_mismatch"),
    );
  });
});
