import type { DeviceAccount, LinkSecret, PortalForServices, ShareRequest } from "@relicario/shared/contract";

import { openDevice, type DeviceRecord } from "../device/device.ts";
import { showKey, showPicture } from "../shown-image.ts";
import { channelWorkers } from "../testing/channel-workers.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeSharing, type FakeSharing } from "../testing/fake-shares.ts";
import { withStartAnew } from "../testing/fake-start-anew.ts";
import { createFakeMachine } from "../testing/surroundings.ts";
import { createVaultClient, type VaultClient } from "../worker/vault-client.ts";
import { createVisitorClient, type VisitorClient } from "../worker/visitor-client.ts";
import {
  textContent,
  textSecret,
  type LinkScene,
  type LinkStage,
  type Scene,
  type Stage,
} from "./describe-vault.stage.ts";

/** Somebody with an account. */
interface Person {
  readonly userId: string;
  readonly userName: string;
  readonly service: FakeService;
  readonly rename: (userName: string) => void;
  startAnew: Scene["startAnew"];
  readonly on: (device: string) => DeviceAccount;
  /** A page of the device with this name: what the device kept before is there again. */
  readonly open: (device?: string) => VaultClient;
}

/** Everybody of one portal. */
interface World {
  readonly sharing: FakeSharing;
  readonly person: (userName: string, userId?: string) => Person;
}

let persons = 0;

const albasId = "019a9e2c-7c1e-7abc-8def-00000000a11c";

function createWorld(): World {
  const sharing = createFakeSharing();
  const machine = createFakeMachine();
  machine.now = Date.now(); // the worker's own clock
  return {
    sharing,
    person: (userName, userId = `019a9e2c-7c1e-7abc-8def-${(++persons).toString(16).padStart(12, "0")}`) => {
      const service = createFakeService(userId);
      const enter = (name: string): void => {
        const me = { userId, userName: name, account: () => service.account };
        service.sharing = { between: sharing, me };
        sharing.people.set(name, me);
      };
      enter(userName);
      const account = { issuer: "https://id.example", subject: `${userName} ${String(++persons)}` };
      const on = (device: string): DeviceAccount => ({ ...account, vendorId: `relicario on ${device}` });
      let signIns = 0;
      const signInAgain = (): Promise<{ authTime: number }> =>
        Promise.resolve({ authTime: Math.floor(machine.now / 1000) + 60 * ++signIns });
      const person: Person = {
        userId,
        userName,
        service,
        rename: (name) => {
          sharing.people.delete(userName);
          enter(name);
        },
        startAnew: undefined,
        on,
        open: (device = "laptop") => {
          const portal: PortalForServices = {
            http: withStartAnew(service, service.httpOf(device), person.startAnew),
            vendorId: on(device).vendorId,
            account: { ...account, userId },
            signInAgain,
            takeLinkSecret: () => Promise.resolve(null),
          };
          return createVaultClient(portal, channelWorkers(), { surroundings: machine.tab() });
        },
      };
      return person;
    },
  };
}

const shown: Stage["shown"] = (picture, passphrase) =>
  showPicture({ picture: fakePicture(picture), passphrase: passphrase ?? null });

const shownKey: Stage["shownKey"] = (kind, secret) =>
  showKey(kind === "passkey" ? { kind, prf: new Uint8Array(32).fill(Number(secret)) } : { kind, code: secret });

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString();

/**
 * Accounts that were made, by their scene: where nobody else has a part in it, the next one is a
 * copy.
 */
const made = new Map<string, { readonly account: FakeAccount; readonly laptop: DeviceRecord }>();

/**
 * The vault of the page over its workers: the service's rules in memory, the cheap key derivation,
 * an engine without pixels.
 */
export async function realVault(scene: Scene): Promise<Stage> {
  const world = createWorld();
  const alba = world.person("alba", albasId);
  const { secrets = [], unlocked = true, device = unlocked ? "own" : null } = scene;
  const images = scene.images ?? (secrets.length > 0 ? [{ name: "garden", picture: "garden" }] : []);
  const [image] = images;
  const opener = () => shown(image?.picture ?? "", image?.passphrase);
  const elsewhere = async (): Promise<VaultClient> => {
    const phone = alba.open("phone");
    await phone.unlock(opener());
    return phone;
  };

  /** On a device that keeps nothing of it, an account is made elsewhere. */
  const make = async (): Promise<VaultClient> => {
    const page = alba.open(device === null && !unlocked ? "phone" : "laptop");
    if (image === undefined) return page;
    await protectAll(page, { ...scene, images });
    if (device !== null) await page.answerDevice(device);
    await meet(world, alba, page, scene);
    for (const upload of scene.uploads ?? []) await leaveUpload(page, upload);
    if (!unlocked) await page.lock();
    if (unlocked && device !== "own") return page;
    await page.signOut();
    return alba.open();
  };

  alba.startAnew = scene.startAnew;
  const isAlone = [scene.people, scene.received, scene.uploads].every((part) => part === undefined);
  const key = JSON.stringify(scene);
  const vault =
    isAlone && image !== undefined && (device === "own" || !unlocked) ? await copied(key, alba, make) : await make();

  return {
    vault,
    shown,
    shownKey,
    code:
      scene.asking === undefined
        ? ""
        : (
            await alba.open("asking").deviceLinks.offer({ shown: shownKey("passkey", "201"), name: scene.asking.name })
          ).words.join(" "),
    saveElsewhere: async (secretId, { title, content }) => {
      const phone = await elsewhere();
      const row = (await phone.list()).find((one) => one.secretId === secretId);
      await phone.update(secretId, {
        baseVersion: row?.version ?? 0,
        ...(title === undefined ? {} : { title }),
        ...(content === undefined ? {} : { content: textContent(content) }),
      });
    },
    answerElsewhere: (requestId, link) => answer(alba, requestId, link, { content: "number 7", note: "As you asked" }),
    admitElsewhere: async (words) => {
      await (await elsewhere()).deviceLinks.admit(words.join(" "), opener());
    },
  };
}

async function copied(
  key: string,
  { service, on, open }: Person,
  make: () => Promise<VaultClient>,
): Promise<VaultClient> {
  const device = await openDevice(on("laptop"));
  const before = made.get(key);
  if (before === undefined) {
    const vault = await make();
    made.set(key, { account: service.snapshot(), laptop: await device.read() });
    device.close();
    return vault;
  }
  service.account = structuredClone(before.account);
  await device.write(before.laptop);
  device.close();
  return open();
}

/** Images and keys, and the secrets that they open. */
async function protectAll(
  page: VaultClient,
  { images, secrets = [], keys = [] }: Scene & Required<Pick<Scene, "images">>,
): Promise<void> {
  const [image] = images;
  // by its first secret
  const begins = image !== undefined && images.length === 1 && secrets.length > 0 && keys.length === 0;
  for (const { name, picture, passphrase } of begins ? [] : images) {
    const { secretId } = await page.protect({
      ...textSecret("Spare", "x"),
      protection: { kind: "picture", shown: shown(picture, passphrase), name },
    });
    await page.trash(secretId);
  }
  if (!begins) await page.purge((await page.list()).map(({ secretId }) => secretId));
  const addKeys = async (covering: boolean): Promise<void> => {
    for (const { kind, name, secret, covers = true } of keys)
      if (covers === covering) await page.openers.add({ shown: shownKey(kind, secret), name }, null);
  };
  await addKeys(true);
  for (const [at, { title, content, former = [], deleted }] of secrets.entries()) {
    const [oldest, ...later] = [...former, content];
    const protection =
      begins && at === 0
        ? ({ kind: "picture", shown: shown(image.picture, image.passphrase), name: image.name } as const)
        : ({ kind: "openers", openers: [] } as const);
    const { secretId } = await page.protect({ ...textSecret(title, oldest), tags: [], protection });
    for (const [index, text] of later.entries())
      await page.update(secretId, { baseVersion: index + 1, content: textContent(text) });
    if (deleted === true) await page.trash(secretId);
  }
  await addKeys(false);
}

async function leaveUpload(
  page: VaultClient,
  { title, content, name }: NonNullable<Scene["uploads"]>[number],
): Promise<void> {
  const leaving = new AbortController();
  const onProgress = ({ phase }: { readonly phase: string }): void => {
    if (phase === "sending") leaving.abort("pause");
  };
  await page
    .protect(
      { ...textSecret(title, content), contentKind: "file", name, mime: "video/mp4" },
      { signal: leaving.signal, onProgress },
    )
    .catch(() => undefined); // it waits
}

/** Other people, what they shared, and what they were asked for. */
async function meet(
  world: World,
  alba: Person,
  page: VaultClient,
  { people = [], received = [], asked = [] }: Scene,
): Promise<void> {
  const pages = new Map<string, VaultClient>();
  const arrive = async (userName: string, userId?: string): Promise<Person> => {
    const person = world.person(userName, userId);
    const own = person.open();
    await own.protect(textSecret("Mine", "x", shown("harbour")));
    pages.set(userName, own);
    return person;
  };
  for (const { userName, standing = "unknown", blocked = false, formerName = userName } of people) {
    const person = await arrive(formerName);
    const found = await page.people.find(formerName);
    if (standing !== "unknown") await page.people.pin(found);
    if (standing === "compared") await page.people.setCompared(found.userId, true);
    if (blocked) await page.people.setBlocked(found, true);
    if (standing !== "changed") continue;
    if (formerName === userName) await arrive(userName, person.userId); // with other keys
    else {
      person.rename(userName);
      pages.set(userName, pages.get(formerName) ?? person.open());
    }
  }
  for (const { title, content, from, viewsLeft = null, available = true } of received.toReversed()) {
    if (!pages.has(from)) await arrive(from);
    const own = pages.get(from) ?? page;
    const { secretId } = await own.protect(textSecret(title, content));
    const person = await own.people.find(alba.userName);
    const { shareId } = await own.shares.create(
      { ...linkTo(secretId), to: { audience: "person", person }, maxViews: viewsLeft },
      shown("harbour"),
    );
    if (!available) await own.shares.revoke(shareId);
  }
  for (const { title, answer: given } of asked.toReversed()) {
    const { requestId, link } = await page.requests.create(
      { title, note: "", askedBy: "Alba", expiresAt: tomorrow(), maxSize: 1_000_000, notify: false },
      null,
    );
    if (given !== undefined) await answer(alba, requestId, link, given);
  }
}

function linkTo(secretId: string): ShareRequest {
  return {
    secretId,
    to: { audience: "public" },
    expiresAt: tomorrow(),
    maxViews: null,
    password: null,
    picture: null,
    notify: false,
  };
}

async function answer(
  { service }: Person,
  requestId: string,
  link: string,
  { content, note }: { readonly content: string; readonly note: string },
): Promise<void> {
  const visitor = visitorOf(service, link);
  await visitor.answer(requestId, { ...textContent(content), name: "words.txt", note });
  visitor.close();
}

/** A page opened by a link, with the session that the service has. */
function visitorOf({ http }: FakeService, link: string): VisitorClient {
  const { pathname: path, hash } = new URL(link);
  const secrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  return createVisitorClient({ http, takeLinkSecret: () => Promise.resolve(secrets.pop() ?? null) }, channelWorkers());
}

/** The visitor of the page over its workers, at a link that somebody made by a real vault. */
export async function realVisitor({ share, request }: LinkScene): Promise<LinkStage> {
  const world = createWorld();
  const maker = world.person(share?.from ?? "alba");
  const page = maker.open();
  const { secretId } = await page.protect(textSecret(share?.title ?? "Mine", share?.content ?? "x", shown("harbour")));
  if (share !== undefined) {
    const { audience = "public", password = null, picture, viewsLeft = null } = share;
    const { shareId: id, link } = await page.shares.create(
      {
        ...linkTo(secretId),
        to: { audience },
        maxViews: viewsLeft,
        password,
        picture: picture === undefined ? null : shown(picture),
      },
      shown("harbour"),
    );
    const visitor = visitorOf(world.person("visitor").service, link ?? "");
    return { visitor, id, shown, endLink: () => page.shares.revoke(id) };
  }
  if (request === undefined) throw new TypeError("the link leads to nothing");
  const { requestId: id, link } = await page.requests.create(
    { ...request, expiresAt: tomorrow(), notify: false },
    null,
  );
  return { visitor: visitorOf(maker.service, link), id, shown, endLink: () => page.requests.drop(id) };
}
