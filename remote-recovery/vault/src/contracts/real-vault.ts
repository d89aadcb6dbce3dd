import type { DeviceAccount, LinkSecret, NewShareInput } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { openDevice, type DeviceRecord } from "../device/device.ts";
import { presentKey, presentPicture } from "../rpc/presented-opener.ts";
import { createChannelWorkers } from "../testing/channel-workers.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { fakePicture } from "../testing/fake-engine.ts";
import { createFakeService, type FakeService } from "../testing/fake-service.ts";
import { createFakeSharing, type FakeSharing } from "../testing/fake-shares.ts";
import { withAccountReset } from "../testing/fake-account-reset.ts";
import { createFakeMachine } from "../testing/fake-machine.ts";
import { createVaultClient, type VaultClient } from "../page/vault-client.ts";
import type { VaultPortal } from "../page/vault-portal.ts";
import { createVisitorClient, type VisitorClient } from "../page/visitor-client.ts";
import {
  textContent,
  textSecret,
  type LinkScenario,
  type LinkHarness,
  type Scenario,
  type Harness,
} from "./describe-vault.harness.ts";

/** A user with an account at the fake service. */
interface Person {
  readonly userId: string;
  readonly userName: string;
  readonly service: FakeService;
  readonly rename: (userName: string) => void;
  accountReset: Scenario["accountReset"];
  readonly deviceAccountOn: (device: string) => DeviceAccount;
  /** Opens a page on the named device. The device keeps its storage. */
  readonly open: (device?: string) => VaultClient;
}

interface FakePortal {
  readonly sharing: FakeSharing;
  readonly createPerson: (userName: string, userId?: string) => Person;
}

let personCount = 0;

const albasId = "019a9e2c-7c1e-7abc-8def-00000000a11c";

function createFakePortal(): FakePortal {
  const sharing = createFakeSharing();
  const machine = createFakeMachine();
  machine.now = Date.now(); // workers read the real clock
  return {
    sharing,
    createPerson: (userName, userId = `019a9e2c-7c1e-7abc-8def-${(++personCount).toString(16).padStart(12, "0")}`) => {
      const service = createFakeService(userId);
      const register = (name: string): void => {
        const me = { userId, userName: name, account: () => service.account };
        service.sharing = { state: sharing, me };
        sharing.people.set(name, me);
      };
      register(userName);
      const account = { issuer: "https://id.example", subject: `${userName} ${String(++personCount)}` };
      const deviceAccountOn = (device: string): DeviceAccount => ({ ...account, vendorId: `relicario on ${device}` });
      let signInCount = 0;
      const signInAgain = (): Promise<{ authTime: number }> =>
        Promise.resolve({ authTime: Math.floor(machine.now / 1000) + 60 * ++signInCount });
      const person: Person = {
        userId,
        userName,
        service,
        rename: (name) => {
          sharing.people.delete(userName);
          register(name);
        },
        accountReset: undefined,
        deviceAccountOn,
        open: (device = "laptop") => {
          const portal: VaultPortal = {
            http: withAccountReset(service, service.httpFor(device), person.accountReset),
            vendorId: deviceAccountOn(device).vendorId,
            account: { ...account, userId },
            signInAgain,
            signInToUnlock: signInAgain,
            signInSilently: () => Promise.reject(new PortalError("login_required")),
            confirmMark: () => Promise.resolve(true),
            takeLinkSecret: () => Promise.resolve(null),
          };
          return createVaultClient(portal, createChannelWorkers(), { environment: machine.openTab() });
        },
      };
      return person;
    },
  };
}

const makeHandle: Harness["makeHandle"] = (picture, passphrase) =>
  presentPicture({ picture: fakePicture(picture), passphrase: passphrase ?? null });

const makeKeyHandle: Harness["makeKeyHandle"] = (kind, credential) =>
  presentKey(
    kind === "passkey" ? { kind, prf: new Uint8Array(32).fill(Number(credential)) } : { kind, code: credential },
  );

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString();

/** Accounts by scenario, created once and then copied. Only for scenarios without other people. */
const cachedAccounts = new Map<string, { readonly account: FakeAccount; readonly laptop: DeviceRecord }>();

/**
 * Creates the page's vault with its workers, the service in memory, cheap Argon2id and the fake
 * engine.
 */
export async function createRealHarness(scenario: Scenario): Promise<Harness> {
  const portal = createFakePortal();
  const alba = portal.createPerson("alba", albasId);
  const { secrets = [], unlocked = true, device = unlocked ? "own" : null } = scenario;
  const images = scenario.images ?? (secrets.length > 0 ? [{ name: "garden", picture: "garden" }] : []);
  const [image] = images;
  const accountOpener = () => makeHandle(image?.picture ?? "", image?.passphrase);
  const openOtherDevice = async (): Promise<VaultClient> => {
    const phone = alba.open("phone");
    await phone.unlock(accountOpener());
    return phone;
  };

  /** Creates the account; on another device if this device must have no saved keys. */
  const createAccount = async (): Promise<VaultClient> => {
    const page = alba.open(device === null && !unlocked ? "phone" : "laptop");
    if (image === undefined) return page;
    await protectAll(page, { ...scenario, images });
    if (device !== null) await page.setDeviceKind(device);
    await addOtherPeople(portal, alba, page, scenario);
    for (const upload of scenario.uploads ?? []) await interruptUpload(page, upload);
    if (!unlocked) await page.lock();
    if (unlocked && device !== "own") return page;
    await page.signOut();
    return alba.open();
  };

  alba.accountReset = scenario.accountReset;
  const hasNoOtherPeople = [scenario.people, scenario.received, scenario.uploads].every(
    (member) => member === undefined,
  );
  const cacheKey = JSON.stringify(scenario);
  const vault =
    hasNoOtherPeople && image !== undefined && (device === "own" || !unlocked)
      ? await restoreCached(cacheKey, alba, createAccount)
      : await createAccount();

  return {
    vault,
    makeHandle,
    makeKeyHandle,
    requestingDeviceCode:
      scenario.requestingDevice === undefined
        ? ""
        : (
            await alba
              .open("asking")
              .deviceLinks.offer({ handle: makeKeyHandle("passkey", "201"), name: scenario.requestingDevice.name })
          ).words.join(" "),
    saveElsewhere: async (secretId, { title, content }) => {
      const phone = await openOtherDevice();
      const row = (await phone.list()).find((candidate) => candidate.secretId === secretId);
      await phone.update(secretId, {
        baseVersion: row?.version ?? 0,
        ...(title === undefined ? {} : { title }),
        ...(content === undefined ? {} : { content: textContent(content) }),
      });
    },
    answerElsewhere: (requestId, link) =>
      answerRequest(alba, requestId, link, { content: "number 7", note: "As you asked" }),
    admitElsewhere: async (words) => {
      await (await openOtherDevice()).deviceLinks.approve(words.join(" "), accountOpener());
    },
  };
}

async function restoreCached(
  cacheKey: string,
  { service, deviceAccountOn, open }: Person,
  createAccount: () => Promise<VaultClient>,
): Promise<VaultClient> {
  const device = await openDevice(deviceAccountOn("laptop"));
  const cached = cachedAccounts.get(cacheKey);
  if (cached === undefined) {
    const vault = await createAccount();
    cachedAccounts.set(cacheKey, { account: service.snapshot(), laptop: await device.read() });
    device.close();
    return vault;
  }
  service.account = structuredClone(cached.account);
  await device.write(cached.laptop);
  device.close();
  return open();
}

async function protectAll(
  page: VaultClient,
  { images, secrets = [], keys = [] }: Scenario & Required<Pick<Scenario, "images">>,
): Promise<void> {
  const [image] = images;
  // the first secret adds the image
  const firstSecretAddsImage = image !== undefined && images.length === 1 && secrets.length > 0 && keys.length === 0;
  for (const { name, picture, passphrase } of firstSecretAddsImage ? [] : images) {
    const { secretId } = await page.protect({
      ...textSecret("Spare", "x"),
      protection: { kind: "picture", picture: makeHandle(picture, passphrase), name },
    });
    await page.trash(secretId);
  }
  if (!firstSecretAddsImage) await page.purge((await page.list()).map(({ secretId }) => secretId));
  const addKeys = async (opensSecrets: boolean): Promise<void> => {
    for (const { kind, name, credential, opensExisting = true } of keys)
      if (opensExisting === opensSecrets)
        await page.openers.add({ handle: makeKeyHandle(kind, credential), name }, null);
  };
  await addKeys(true);
  for (const [position, { title, content, formerContents = [], deleted }] of secrets.entries()) {
    const [oldest, ...laterContents] = [...formerContents, content];
    const protection =
      firstSecretAddsImage && position === 0
        ? ({ kind: "picture", picture: makeHandle(image.picture, image.passphrase), name: image.name } as const)
        : ({ kind: "openers", openerIds: [] } as const);
    const { secretId } = await page.protect({ ...textSecret(title, oldest), tags: [], protection });
    for (const [index, text] of laterContents.entries())
      await page.update(secretId, { baseVersion: index + 1, content: textContent(text) });
    if (deleted === true) await page.trash(secretId);
  }
  await addKeys(false);
}

async function interruptUpload(
  page: VaultClient,
  { title, content, name }: NonNullable<Scenario["uploads"]>[number],
): Promise<void> {
  const controller = new AbortController();
  const onProgress = ({ phase }: { readonly phase: string }): void => {
    if (phase === "sending") controller.abort("pause");
  };
  await page
    .protect(
      { ...textSecret(title, content), contentKind: "file", name, mime: "video/mp4" },
      { signal: controller.signal, onProgress },
    )
    .catch(() => undefined); // the abort only pauses the upload
}

/** Also adds other people's shares with this account, and the account's own requests. */
async function addOtherPeople(
  portal: FakePortal,
  alba: Person,
  page: VaultClient,
  { people = [], received = [], ownRequests = [] }: Scenario,
): Promise<void> {
  const pages = new Map<string, VaultClient>();
  const addPerson = async (userName: string, userId?: string): Promise<Person> => {
    const person = portal.createPerson(userName, userId);
    const personPage = person.open();
    await personPage.protect(textSecret("Mine", "x", makeHandle("harbour")));
    pages.set(userName, personPage);
    return person;
  };
  for (const { userName, trust = "unknown", blocked = false, formerName = userName } of people) {
    const person = await addPerson(formerName);
    const foundPerson = await page.people.find(formerName);
    if (trust !== "unknown") await page.people.pin(foundPerson);
    if (trust === "compared") await page.people.setCompared(foundPerson.userId, true);
    if (blocked) await page.people.setBlocked(foundPerson, true);
    if (trust !== "changed") continue;
    if (formerName === userName) await addPerson(userName, person.userId); // the same account, now with other keys
    else {
      person.rename(userName);
      pages.set(userName, pages.get(formerName) ?? person.open());
    }
  }
  for (const { title, content, from, viewsLeft = null, available = true } of received.toReversed()) {
    if (!pages.has(from)) await addPerson(from);
    const personPage = pages.get(from) ?? page;
    const { secretId } = await personPage.protect(textSecret(title, content));
    const person = await personPage.people.find(alba.userName);
    const { shareId } = await personPage.shares.create(
      { ...makeShareInput(secretId), to: { audience: "person", person }, maxViews: viewsLeft },
      makeHandle("harbour"),
    );
    if (!available) await personPage.shares.revoke(shareId);
  }
  for (const { title, answer: answerContent } of ownRequests.toReversed()) {
    const { requestId, link } = await page.requests.create(
      { title, note: "", requesterName: "Alba", expiresAt: tomorrow(), maxSize: 1_000_000, notify: false },
      null,
    );
    if (answerContent !== undefined) await answerRequest(alba, requestId, link, answerContent);
  }
}

function makeShareInput(secretId: string): NewShareInput {
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

async function answerRequest(
  { service }: Person,
  requestId: string,
  link: string,
  { content, note }: { readonly content: string; readonly note: string },
): Promise<void> {
  const visitor = openVisitor(service, link);
  await visitor.answer(requestId, { ...textContent(content), name: "words.txt", note });
  visitor.close();
}

/** Uses the session of this service. */
function openVisitor({ http }: FakeService, link: string): VisitorClient {
  const { pathname: path, hash } = new URL(link);
  const linkSecrets: LinkSecret[] = [{ path, s: hash.slice("#s=".length), n: null }];
  return createVisitorClient(
    { http, takeLinkSecret: () => Promise.resolve(linkSecrets.pop() ?? null) },
    createChannelWorkers(),
  );
}

/** Opens a visitor with its workers, at a link that a real vault created. */
export async function createRealLinkHarness({ share, request }: LinkScenario): Promise<LinkHarness> {
  const portal = createFakePortal();
  const owner = portal.createPerson(share?.from ?? "alba");
  const page = owner.open();
  const { secretId } = await page.protect(
    textSecret(share?.title ?? "Mine", share?.content ?? "x", makeHandle("harbour")),
  );
  if (share !== undefined) {
    const { audience = "public", password = null, picture, viewsLeft = null } = share;
    const { shareId: id, link } = await page.shares.create(
      {
        ...makeShareInput(secretId),
        to: { audience },
        maxViews: viewsLeft,
        password,
        picture: picture === undefined ? null : makeHandle(picture),
      },
      makeHandle("harbour"),
    );
    const visitor = openVisitor(portal.createPerson("visitor").service, link ?? "");
    return { visitor, id, makeHandle, endLink: () => page.shares.revoke(id) };
  }
  if (request === undefined) throw new TypeError("the scenario needs a share or a request");
  const { requestId: id, link } = await page.requests.create(
    { ...request, expiresAt: tomorrow(), notify: false },
    null,
  );
  return { visitor: openVisitor(owner.service, link), id, makeHandle, endLink: () => page.requests.drop(id) };
}
