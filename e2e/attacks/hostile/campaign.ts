/**
 * A person uses the portal while a hostile release of the sharing remote runs in its page: what
 * each attack takes, in one engine.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";

import type { RunningPortal } from "@relicario/tooling/portal";
import { z } from "zod";

import { newAccount } from "../../pages/account.ts";
import type { EngineName, EnginePage } from "../../support/engines/engine.ts";
import { poll } from "../../support/engines/locate.ts";
import { startEngine } from "../../support/engines/start-engine.ts";
import { photographs } from "../../support/photographs.ts";
import { createReleaseTools } from "../../support/releases.ts";
import { createSentinel } from "../../support/sentinel.ts";
import { deriveKey, deriveKeysOfAccount } from "../../support/user-keys.ts";
import { startVaultWithoutOrigin } from "./vault-without-origin.ts";
import {
  brokerPorts,
  clickElementByScript,
  forgeMessages,
  frameOwnElements,
  imitateElement,
  readArrivals,
  countHeldInputs,
  readImitation,
  readPortArrivals,
  readTrap,
  readWatched,
  replaceElement,
  searchScreen,
  stealFocus,
  watchElements,
} from "./element-attacks.ts";
import {
  fakeFreshSignIn,
  findTaken,
  leaveForeignToken,
  installHostileRemote,
  isHostileRemoteInstalled,
  listPrfOutputs,
  readSessionToken,
  readVaultStorage,
  registerServiceWorker,
  sendForeignToken,
  startVaultWorker,
  useStoredKeys,
  usePasskey,
  writeVaultStorage,
  type Needle,
  type Way,
} from "./hostile-remote.ts";
import { passphraseField, Person, pictureFile, type Picture } from "./person.ts";

/** What attacks take, and by which way of the page. */
const takings = {
  "account key": ["worker", "messages", "ports"],
  "metadata keys": ["worker", "messages", "ports"],
  "opener of the picture": ["worker", "messages", "ports"],
  picture: ["inputs", "blobs", "messages"],
  passphrase: ["inputs", "messages", "intrinsics", "worker"],
  "recovery code": ["screen", "inputs", "messages"],
} as const satisfies Readonly<Record<string, readonly Way[]>>;
type Taking = { [Name in keyof typeof takings]: `${Name}, by ${(typeof takings)[Name][number]}` }[keyof typeof takings];

/** Attacks on the messages between the vault's documents. */
const elementAttacks = [
  "an element pressed and filled by script",
  "a port that the page brokers",
  "the controller asked in an element's name",
  "an element of the attacker's own, for what another one holds",
  "the controller imitated",
  "the page's documents in place of an element",
] as const;
type ElementAttack = (typeof elementAttacks)[number];

export type AttackName =
  | Taking
  | ElementAttack
  | "recovery code, by search and selection"
  | "length of a passphrase, by what its element tells"
  | "passphrase, by taking the focus"
  | "picture and passphrase, by an imitated element"
  | "PRF output, by wrapped credentials"
  | "documents, by the keys that the vault stored"
  | "the vault's storage read"
  | "the vault's storage written"
  | "a worker of the vault started"
  | "the passkey used from the page"
  | "a fake sign-in unlocks the device"
  | "a secret into another account, by its token"
  | "a service worker over the portal";

/**
 * What was taken or reached, or null for a failed attack. Attacks that the engine's driver cannot
 * make are missing.
 */
export type CampaignResult = ReadonlyMap<AttackName, string | null>;

/**
 * Publishes the sharing remote, signed by its team, with the hostile code in front of its own. The
 * deployment document is as long as that of a portal with many remotes: WebKitGTK's signatures end
 * at 64 KiB.
 */
export async function releaseHostileRemote(portal: RunningPortal): Promise<void> {
  const { createChangedRelease, patchDeployment, runCommand } = createReleaseTools(portal);
  const release = await createChangedRelease(
    "sharing",
    "remote.js",
    (text) => `(${installHostileRemote.toString()})();\n${text}`,
  );
  const promotion = await runCommand("promote", release);
  if (!promotion.ok) throw new Error(promotion.output);
  const disabled = Array.from({ length: 3_000 }, () => `former-1.0.0-${randomBytes(6).toString("hex")}`);
  await patchDeployment({ disabled });
}

/** Typed into the page and sent to the vault, which shows that both are watched. */
const title = `Wallet ${createSentinel()}`;

export async function runCampaign(name: EngineName, portal: RunningPortal): Promise<CampaignResult> {
  const results = new Map<AttackName, string | null>();
  const engine = await startEngine(name);
  try {
    const { page } = engine;
    await requireSuccessWithoutOrigin(page);
    const person = new Person(page, portal);
    const picture: Picture = { file: photographs.small, passphrase: `four words and ${createSentinel()}` };
    await person.signUp(newAccount());
    await openHostileArea(person);

    await person.protectText(`legal winner ${createSentinel()}`, title, picture);
    await person.lock();
    await person.unlockWithPicture(picture, title);
    const code = await person.makeCode(picture, async (words) => {
      results.set("recovery code, by search and selection", await page.run(searchScreen, words));
    });
    await person.lock();
    await person.unlockWithCode(code, title);
    const keys = await deriveKeysOfAccount(
      { origin: getLoopbackOrigin(portal), token: await page.run(readSessionToken) },
      picture,
    );
    const needles: (Needle & { readonly name: keyof typeof takings })[] = [
      { name: "account key", hex: keys.accountKey.toString("hex") },
      ...["label", "book", "shares", "state"].map((label) => ({
        name: "metadata keys" as const,
        hex: deriveKey(keys.accountKey, `relicario/v1/${label}`).toString("hex"),
      })),
      ...[keys.imageSecret, keys.imageRootKey, keys.openerSeed].map((bytes) => ({
        name: "opener of the picture" as const,
        hex: bytes.toString("hex"),
      })),
      {
        name: "picture",
        digest: createHash("sha256")
          .update(await readFile(picture.file))
          .digest("hex"),
      },
      { name: "passphrase", text: picture.passphrase },
      { name: "recovery code", text: code },
    ];
    const titleWays = (await page.run(findTaken, [{ name: "title", text: title }])).map(({ way }) => way);
    if (!titleWays.includes("inputs") || !titleWays.includes("messages"))
      throw new Error("the hooks do not even find the title, which the page has");
    const finds = await page.run(findTaken, needles);
    for (const [taking, ways] of Object.entries(takings) as [keyof typeof takings, readonly Way[]][])
      for (const way of ways)
        results.set(
          `${taking}, by ${way}` as Taking,
          finds.some((find) => find.name === taking && find.way === way) ? `the ${taking} itself` : null,
        );

    results.set("documents, by the keys that the vault stored", await page.run(useStoredKeys, keys.documents));
    results.set("the vault's storage read", await page.run(readVaultStorage, portal.vaultOrigin));
    results.set("the vault's storage written", await page.run(writeVaultStorage));
    const vaultWorker = await findVaultWorker(portal);
    results.set(
      "a worker of the vault started",
      await page.run(
        startVaultWorker,
        [portal.origin, portal.vaultOrigin].map((origin) => origin + vaultWorker),
      ),
    );
    results.set(
      "a service worker over the portal",
      await page.run(
        registerServiceWorker,
        `/r/sharing/${await createReleaseTools(portal).findStableRelease("sharing")}/remote.js`,
      ),
    );
    const texts = [picture.passphrase, code];
    await person.lock();
    for (const [attack, taken] of await attackElement(person, portal.vaultOrigin, picture, texts))
      results.set(attack, taken);
    results.set("passphrase, by taking the focus", await attackFocus(person, picture));
    results.set("picture and passphrase, by an imitated element", await attackByImitation(person, picture));

    await person.reload("/secrets");
    await page.run(fakeFreshSignIn);
    await person.reload("/secrets");
    const row = { kind: "link", name: `^${title}$` } as const;
    const locked = { kind: "text", name: "This device is locked" } as const;
    results.set(
      "a fake sign-in unlocks the device",
      (await page.waitFor(row, locked)) === row ? "titles without an opener" : null,
    );

    if (engine.chromium !== null) {
      await engine.chromium.addPasskeys();
      await openHostileArea(person);
      await person.goTo("/secrets");
      if ((await page.waitFor(row, locked)) === locked) await person.unlockWithPicture(picture, title);
      await person.makePasskey(picture);
      await person.lock();
      await person.unlockWithPasskey(title);
      const [output = null] = await page.run(listPrfOutputs);
      results.set("PRF output, by wrapped credentials", output);
      results.set(
        "the passkey used from the page",
        await page.run(
          usePasskey,
          [portal.origin, portal.vaultOrigin].map((origin) => new URL(origin).hostname),
        ),
      );
    }
  } finally {
    await engine.close();
  }
  results.set("a secret into another account, by its token", await protectWithForeignToken(name, portal));
  return results;
}

/**
 * Attacks the element in which a person presents a picture on a locked device. The messages are
 * searched for texts that only the element knows.
 */
async function attackElement(
  person: Person,
  vaultOrigin: string,
  picture: Picture,
  texts: readonly string[],
): Promise<ReadonlyMap<AttackName, string | null>> {
  const { page } = person;
  await page.run(watchElements, vaultOrigin);
  await person.startUnlocking();
  await page.waitFor(pictureFile);
  const clicked = await page.run(clickElementByScript);
  await person.choosePicture(picture.file);
  const countMessages = async (): Promise<number> => (await page.run(readWatched)).length;
  const messagesBefore = await countMessages();
  await person.typeSlowly(picture.passphrase);
  const messages = (await countMessages()) - messagesBefore;
  return new Map<AttackName, string | null>([
    [
      "length of a passphrase, by what its element tells",
      messages > 0.8 * picture.passphrase.length ? `${String(messages)} messages` : null, // fast letters share one
    ],
    ...(await attackHeldInput(page, vaultOrigin, clicked, texts)),
  ]);
}

async function attackHeldInput(
  page: EnginePage,
  vaultOrigin: string,
  clicked: string | null,
  texts: readonly string[],
): Promise<ReadonlyMap<ElementAttack, string | null>> {
  const findInMessages = async (): Promise<string | null> => {
    const messages = await page.run(readWatched);
    return texts.find((text) => messages.some((message) => message.includes(text))) ?? null;
  };
  const taken = new Map<ElementAttack, string | null>([["an element pressed and filled by script", clicked]]);
  await page.run(brokerPorts, vaultOrigin);
  taken.set("the controller asked in an element's name", await page.run(forgeMessages, vaultOrigin));
  taken.set(
    "an element of the attacker's own, for what another one holds",
    (await page.run(frameOwnElements, vaultOrigin)) ?? (await findInMessages()),
  );
  taken.set("the controller imitated", (await page.run(readArrivals)).join() || null);
  taken.set(
    "the page's documents in place of an element",
    (await page.run(replaceElement, vaultOrigin)) ?? (await findInMessages()),
  );
  taken.set("a port that the page brokers", (await page.run(readPortArrivals)).join() || null); // long after
  return taken;
}

/** Makes the attacks on a vault that shares the page's origin, where each must succeed. */
async function requireSuccessWithoutOrigin(page: EnginePage): Promise<void> {
  const vault = await startVaultWithoutOrigin();
  try {
    await page.open(vault.origin);
    await page.run(watchElements, vault.origin);
    await page.run(vault.startElement);
    await poll("held input", async () => ((await page.run(countHeldInputs)) > 0 ? true : null));
    const clicked = await page.run(clickElementByScript);
    const results = await attackHeldInput(page, vault.origin, clicked, [vault.passphrase]);
    const failed = elementAttacks.filter((attack) => (results.get(attack) ?? null) === null);
    if (failed.length > 0) throw new Error(`fails without the vault's origin: ${failed.join("; ")}`);
  } finally {
    await vault.stop();
  }
}

/**
 * Letters that a person typed into the page instead of the element, until the element warned them;
 * null when they are few.
 */
async function attackFocus(person: Person, { file, passphrase }: Picture): Promise<string | null> {
  await person.reload("/secrets");
  await person.startUnlocking();
  await person.choosePicture(file);
  await person.page.run(stealFocus);
  await person.typeUntilWarned(passphrase);
  const typed = await person.page.run(readTrap);
  return typed.length > 2 && passphrase.includes(typed) ? typed : null;
}

async function attackByImitation(person: Person, picture: Picture): Promise<string | null> {
  await person.reload("/secrets");
  await person.startUnlocking();
  await person.page.waitFor(pictureFile);
  await person.page.run(imitateElement);
  await person.page.chooseFile(pictureFile, picture.file);
  await person.page.type(passphraseField, picture.passphrase);
  const { size, passphrase } = await person.page.run(readImitation);
  return size > 0 && passphrase === picture.passphrase ? "both" : null;
}

/** A person protects their first secret while the page sends the attacker's token for theirs. */
async function protectWithForeignToken(name: EngineName, portal: RunningPortal): Promise<string | null> {
  const attackersEngine = await startEngine(name);
  let token = "";
  try {
    await new Person(attackersEngine.page, portal).signUp(newAccount());
    token = await poll("session token", async () => (await attackersEngine.page.run(readSessionToken)) || null);
  } finally {
    await attackersEngine.close();
  }
  const engine = await startEngine(name);
  try {
    const person = new Person(engine.page, portal);
    await person.signUp(newAccount());
    await openHostileArea(person);
    const countTaken = async (): Promise<number> => {
      const response = await fetch(`${getLoopbackOrigin(portal)}/api/secrets/store`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return z.object({ secrets: z.array(z.unknown()) }).parse(await response.json()).secrets.length;
    };
    const picture = { file: photographs.small, passphrase: randomBytes(12).toString("hex") };
    const ways = {
      "wrapped headers": () => engine.page.run(sendForeignToken, token),
      "a reload": async () => {
        await engine.page.run(leaveForeignToken, token);
        await openHostileArea(person);
      },
    };
    for (const [way, prepare] of Object.entries(ways)) {
      await prepare();
      await person.protectText("the first secret of this account", title, picture).catch(() => undefined); // refused
      if ((await countTaken()) > 0) return `by ${way}`;
    }
    return null;
  } finally {
    await engine.close();
  }
}

/** Loads the page with the hostile code in it. */
export async function openHostileArea(person: Person): Promise<void> {
  await person.reload("/recived");
  await poll("hostile release in the page", async () =>
    (await person.page.run(isHostileRemoteInstalled).catch(() => false)) ? true : null,
  );
}

/** Path of the vault's worker in its release. */
async function findVaultWorker(portal: RunningPortal): Promise<string> {
  const { findStableRelease, readRecord } = createReleaseTools(portal);
  const release = await findStableRelease("recovery");
  const { files } = await readRecord(release);
  const file = Object.keys(files).find((path) => /vault-worker\.[0-9a-f]+\.js$/.test(path));
  if (file === undefined) throw new Error(`${release} has no vault worker`);
  return `/r/recovery/${release}/${file}`;
}

/** Node's resolver knows no names below `localhost`. */
export function getLoopbackOrigin({ origin }: RunningPortal): string {
  return `http://localhost:${new URL(origin).port}`;
}
