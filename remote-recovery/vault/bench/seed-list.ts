/**
 * Stores secrets in an account for `pnpm bench:list`. Each is sealed and signed like on a device.
 * The account must have a first secret, protected with the picture.
 *
 *     SEED_API=… SEED_TOKEN=… SEED_PICTURE=… node bench/seed-list.ts <count>
 */
import { openAsBlob } from "node:fs";

import { createHttpClient, maxBatchSecrets, toBase64url, Me } from "@relicario/shared/api";
import { z } from "zod";

import { loadEngineInNode } from "@relicario/engine/node";
import { estimateStrength } from "@relicario/shared/contract";
import { openDevice } from "../src/device/device.ts";
import { readAccount } from "../src/keyring/read-account.ts";
import { openKeyring } from "../src/keyring/fetch-keyring.ts";
import { sealRow } from "../src/secrets/seal-secret.ts";
import { buildNextChange } from "../src/keyring/build-keyring-change.ts";
import { unlock } from "../src/openers/unlock.ts";
import { utf8 } from "../src/seal/bytes.ts";
import { sealContent } from "../src/seal/content.ts";
import { newId, formatTimestamp } from "../src/seal/ids.ts";
import type { RootRow } from "../src/seal/state.ts";
import { createService } from "../src/service/service.ts";
import { openVaultSession } from "../src/session/vault-session.ts";

const Settings = z.object({ SEED_API: z.url(), SEED_TOKEN: z.string().min(1), SEED_PICTURE: z.string().min(1) });
const { SEED_API: baseUrl, SEED_TOKEN: token, SEED_PICTURE: picturePath } = Settings.parse(process.env);
const count = z.coerce.number().int().min(0).parse(process.argv[2]);

const places = ["bank", "harbour", "garden", "office", "attic", "workshop", "cabin", "library"] as const;
const things = [
  "passport",
  "will",
  "key",
  "recovery phrase",
  "contract",
  "letter",
  "insurance",
  "deed",
  "licence",
  "diary",
] as const;
const pick = <T>(items: readonly [T, ...T[]], index: number): T => items[index % items.length] ?? items[0];

const http = createHttpClient({ baseUrl, getToken: () => Promise.resolve(token) });
const { user_id: userId } = await http.request("GET", "/user/me", Me);
const vault = await openVaultSession({
  userId,
  service: createService(http),
  engine: await loadEngineInNode(),
  estimateStrength,
  device: await openDevice({ vendorId: "seed", issuer: "seed", subject: userId }), // in memory, since Node has no IndexedDB
  onStateChange: () => undefined,
  confirmMark: () => Promise.resolve(true),
});
(await unlock(vault, { picture: await openAsBlob(picturePath), passphrase: null }, {})).opener.wipe();

const account = await readAccount(vault);
if (account === null || vault.keys === null) throw new Error("the account needs a first secret");
const { keys } = vault;
const { openedKeyring } = await openKeyring(vault, keys, vault.accountKey, account.view.keyring);
const rows: RootRow[] = [...account.rows.values()];
let { keyring } = account.view;

async function sealSecret(index: number) {
  const content = await sealContent("text", utf8(`what is kept under number ${String(index)}`));
  const description = {
    title: `${pick(things, index)} ${String(index)}, ${pick(places, index)}`,
    tags: [pick(places, index), pick(things, index * 7)],
    contentKind: "text" as const,
    name: "secret.txt",
    mime: "text/plain",
    createdAt: formatTimestamp(Date.now()),
  };
  const secretId = newId(Date.now());
  const { root, ...row } = await sealRow(
    vault,
    keys,
    { secretId, version: 1, rev: 1 },
    description,
    content,
    openedKeyring.book.openers,
  );
  return { root, secret: { secret_db_id: secretId, ...row, content: toBase64url(content.sealed) } };
}

for (let start = 0; start < count; start += maxBatchSecrets) {
  const size = Math.min(maxBatchSecrets, count - start);
  const batch = await Promise.all(Array.from({ length: size }, (_, index) => sealSecret(start + index)));
  rows.push(...batch.map(({ root }) => root));
  const { keyringChange } = await buildNextChange(
    vault,
    { view: { keyring, openedKeyring }, rows: account.rows },
    openedKeyring,
    rows,
    {},
  );
  await vault.service.storeBatch({ secrets: batch.map(({ secret }) => secret), keyring: keyringChange });
  keyring = { ...keyring, state_rev: keyringChange.state_rev, state: keyringChange.state };
}
