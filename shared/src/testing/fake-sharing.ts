import { maxWrongPasswords } from "../api/index.ts";
import type {
  CallOptions,
  FoundPerson,
  OpenedShare,
  PersonKeys,
  ReceivedShare,
  SecretShare,
  Sender,
  ShareAudience,
  ShownImage,
  Standing,
  Vault,
  VaultPeople,
  VaultReceived,
  VaultShares,
  Visitor,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { openedContent, type FakeContent } from "./fake-content.ts";
import { FakePictureField, forgetShown, textOf, whatIsShown } from "./fake-picture-field.tsx";

/** Somebody of the key directory. */
export interface FakePerson {
  readonly userName: string;
  /** `unknown` unless told otherwise. */
  readonly standing?: Standing;
  readonly blocked?: boolean;
  /** Of somebody `changed`: the name under which the same keys are pinned. */
  readonly formerName?: string;
}

/** Something that somebody shared with this account. */
export interface FakeReceived extends FakeContent {
  readonly title: string;
  /** User name. */
  readonly from: string;
  readonly audience?: ShareAudience;
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly expiresAt?: string;
  readonly openedAt?: string | null;
  readonly viewsLeft?: number | null;
  readonly available?: boolean;
}

/** A share that this account made before: a live public link unless told otherwise. */
export type FakeGiven = Partial<SecretShare> & Pick<SecretShare, "shareId" | "secretId">;

export interface FakeSharingSettings {
  /** Newest last. */
  readonly shares?: readonly FakeGiven[];
  readonly people?: readonly FakePerson[];
  /** Newest first. Whoever shared is in the directory. */
  readonly received?: readonly FakeReceived[];
}

/** Members of the vault's parts for sharing, as `received.open`. */
export type SharingMember = { [Part in "shares" | "people" | "received" | "requests"]: `${Part}.${keyof Vault[Part] & string}` }[keyof Pick<Vault, "shares" | "people" | "received" | "requests">];

/** What the fake vault does for its parts. */
export interface FakeAccount {
  readonly enter: (member: SharingMember, options?: CallOptions) => void;
  readonly requireUnlocked: () => void;
  /** Opens the account with a picture; null stands for one that was shown before. */
  readonly showOpener: (shown: ShownImage | null) => Promise<void>;
}

const week = 7 * 86_400_000;
const inAWeek = () => new Date(Date.now() + week).toISOString();

/** Eight words, as a name says them. */
function wordsFor(name: string, former = false): readonly string[] {
  return ["north", "cactus", "river", "orbit", "velvet", "lemon", "anchor", former ? "before" : "today"].map((word, index) => (index === 0 ? `${word}-${name}` : word));
}

interface KeptPerson {
  readonly userId: string;
  readonly userName: string;
  readonly pinnedAt: string | null;
  readonly standing: Standing;
  readonly blocked: boolean;
  readonly formerName?: string | undefined;
}

/** Shares, people and received of the fake vault, in memory. */
export function createFakeSharing({ people = [], received = [], shares = [] }: FakeSharingSettings, account: FakeAccount): { readonly shares: VaultShares; readonly people: VaultPeople; readonly received: VaultReceived } {
  const directory = new Map<string, KeptPerson>();
  const own = new Map<string, SecretShare>();
  let made = 0;
  const nextId = () => `${(++made).toString(36).padStart(21, "s")}A`; // 16 bytes in base64url
  const add = ({ userName, standing = "unknown", blocked = false, formerName }: FakePerson): KeptPerson => {
    const known = [...directory.values()].find((each) => each.userName === userName);
    if (known !== undefined) return known;
    const userId = `01890a5d-ac96-7000-8000-${(directory.size + 1).toString(16).padStart(12, "b")}`;
    const person = { userId, userName, standing, blocked, formerName, pinnedAt: standing === "unknown" ? null : "2026-11-01T09:00:00.000Z" };
    directory.set(userId, person);
    return person;
  };
  for (const person of people) add(person);
  for (const share of shares) {
    const usual = { version: 1, audience: "public", createdAt: "2026-11-20T10:00:00.000Z", expiresAt: inAWeek(), revokedAt: null, person: null, password: false, picture: false } as const;
    own.set(share.shareId, { ...usual, views: 0, maxViews: null, lastOpenedAt: null, state: "live", outdated: false, doubt: null, ...share });
  }
  const inbox = new Map(
    received.map((each) => {
      const shareId = nextId();
      return [shareId, { ...each, shareId, userId: add({ userName: each.from }).userId }] as const;
    }),
  );

  const personOf = (userId: string): KeptPerson => {
    const person = directory.get(userId);
    if (person === undefined) throw new PortalError("not_found");
    return person;
  };
  const described = ({ userId, userName, standing, blocked, formerName }: KeptPerson): FoundPerson => ({
    userId,
    userName,
    standing,
    blocked,
    words: wordsFor(userName),
    formerWords: standing === "changed" ? wordsFor(userName, formerName === undefined) : null,
    formerName: standing === "changed" ? (formerName ?? null) : null,
  });
  const isShown = ({ userId, words }: PersonKeys) => described(personOf(userId)).words.join(" ") === words.join(" ");
  /** As the book has it, which does not know what the directory says by now. */
  const pinned = (person: KeptPerson): FoundPerson => {
    const { standing, words, formerWords, formerName, ...now } = described(person);
    if (standing !== "changed") return described(person);
    return { ...now, userName: formerName ?? now.userName, words: formerWords ?? words, standing: "known", formerWords: null, formerName: null };
  };
  const change = (userId: string, next: Partial<KeptPerson>) => {
    directory.set(userId, { ...personOf(userId), ...next });
  };
  const pin = (userId: string) => {
    change(userId, { standing: "known", formerName: undefined, pinnedAt: new Date().toISOString() });
  };
  const requireShare = (shareId: string): SecretShare => {
    const share = own.get(shareId);
    if (share === undefined) throw new PortalError("not_found");
    return share;
  };
  const receivedOf = ({ shareId, userId, ...share }: FakeReceived & { readonly shareId: string; readonly userId: string }): ReceivedShare => {
    const { userName, standing, blocked, formerName = userName } = personOf(userId);
    const { audience = "person", createdAt = "2026-11-20T10:00:00.000Z", expiresAt = inAWeek(), openedAt = null, viewsLeft = null, available = true } = share;
    return { shareId, from: { userId, userName: formerName, standing, blocked }, audience, createdAt, expiresAt, openedAt, viewsLeft, available };
  };
  const linkOf = ({ shareId, audience }: SecretShare) => `https://portal.example/${audience === "public" ? "shared" : "p-shared"}/${shareId}#s=key`;

  return {
    shares: {
      create: async ({ secretId, to, expiresAt, maxViews, password, picture }, _by, options) => {
        account.enter("shares.create", options);
        account.requireUnlocked();
        const shareId = nextId();
        const person = to.audience === "person" ? { userId: to.person.userId, userName: to.person.userName } : null;
        if (person !== null) pin(person.userId);
        const share: SecretShare = {
          shareId, secretId, version: 1, audience: to.audience, createdAt: new Date().toISOString(), expiresAt, revokedAt: null, person,
          password: password !== null, picture: picture !== null, views: 0, maxViews, lastOpenedAt: null, state: "live", outdated: false, doubt: null,
        };
        own.set(shareId, share);
        return Promise.resolve({ shareId, link: person === null ? linkOf(share) : null });
      },
      all: async () => {
        account.enter("shares.all");
        return Promise.resolve([...own.values()]);
      },
      ofSecret: async (secretId, options) => {
        account.enter("shares.ofSecret", options);
        return Promise.resolve([...own.values()].filter((share) => share.secretId === secretId && (share.state === "live" || share.doubt !== null || options?.ended === true)).toReversed());
      },
      showLink: async (shareId, opener, options) => {
        account.enter("shares.showLink", options);
        await account.showOpener(opener);
        return linkOf(requireShare(shareId));
      },
      change: async (shareId, next, options) => {
        account.enter("shares.change", options);
        own.set(shareId, { ...requireShare(shareId), ...next });
        return Promise.resolve();
      },
      updateContent: async (shareId, _by, options) => {
        account.enter("shares.updateContent", options);
        own.set(shareId, { ...requireShare(shareId), outdated: false });
        return Promise.resolve();
      },
      revoke: async (shareId, options) => {
        account.enter("shares.revoke", options);
        const share = own.get(shareId);
        if (share?.doubt === "unknown") own.delete(shareId); // no mark of it stands anywhere
        else if (share !== undefined) own.set(shareId, { ...share, state: "revoked", revokedAt: new Date().toISOString(), doubt: null });
        return Promise.resolve();
      },
    },
    people: {
      find: async (userName, options) => {
        account.enter("people.find", options);
        const person = [...directory.values()].find((each) => each.userName.toLowerCase() === userName.toLowerCase());
        if (person === undefined) throw new PortalError("not_found");
        return Promise.resolve(described(person));
      },
      list: async () => {
        account.enter("people.list");
        account.requireUnlocked();
        return Promise.resolve([...directory.values()].flatMap((person) => (person.pinnedAt === null ? [] : [{ ...pinned(person), pinnedAt: person.pinnedAt }])));
      },
      pin: async (person, options) => {
        account.enter("people.pin", options);
        account.requireUnlocked();
        if (!isShown(person)) throw new PortalError("person_changed");
        pin(person.userId);
        return Promise.resolve();
      },
      setCompared: async (userId, compared) => {
        account.enter("people.setCompared");
        account.requireUnlocked();
        if (personOf(userId).pinnedAt === null) throw new PortalError("not_found");
        change(userId, { standing: compared ? "compared" : "known" });
        return Promise.resolve();
      },
      setBlocked: async (person, blocked) => {
        account.enter("people.setBlocked");
        account.requireUnlocked();
        const { userId } = person;
        if (personOf(userId).pinnedAt === null) {
          if (!blocked) throw new PortalError("not_found");
          if (!isShown(person)) throw new PortalError("person_changed");
          pin(userId);
        }
        change(userId, { blocked });
        return Promise.resolve();
      },
      mine: async () => {
        account.enter("people.mine");
        account.requireUnlocked();
        return Promise.resolve({ userName: "alba", words: wordsFor("alba") });
      },
    },
    received: {
      list: async (options) => {
        account.enter("received.list", options);
        return Promise.resolve([...inbox.values()].map(receivedOf).filter(({ available }) => available || options?.ended === true));
      },
      open: async (shareId, opener, options) => {
        account.enter("received.open", options);
        const share = inbox.get(shareId);
        if (share === undefined) throw new PortalError("share_unavailable");
        const { available, viewsLeft } = receivedOf(share);
        const person = described(personOf(share.userId));
        const former = { ...(person.formerWords === null ? {} : { former_words: person.formerWords }), ...(person.formerName === null ? {} : { former_name: person.formerName }) };
        const details = { user_id: person.userId, user_name: person.userName, words: person.words, ...former };
        if (person.blocked) throw new PortalError("person_blocked", { details });
        if (person.standing === "changed") throw new PortalError("person_changed", { details });
        await account.showOpener(opener);
        if (person.standing === "unknown" && options?.accept?.join(" ") !== person.words.join(" ")) throw new PortalError("person_unknown", { details });
        if (!available) throw new PortalError("share_unavailable");
        if (person.standing === "unknown") pin(share.userId);
        inbox.set(shareId, { ...share, openedAt: new Date().toISOString(), ...(viewsLeft === null ? {} : { viewsLeft: viewsLeft - 1, available: viewsLeft > 1 }) });
        const standing = person.standing === "compared" ? "compared" : "known";
        return openedShareOf(share, { shareId, sender: { userId: person.userId, userName: person.userName, standing, words: person.words } });
      },
    },
  };
}

/** A share that a link leads to. */
export interface FakeShared extends FakeContent {
  readonly title: string;
  readonly from?: string;
  readonly audience?: ShareAudience;
  readonly password?: string;
  /** What the picture says that it asks for. */
  readonly picture?: string;
  readonly expiresAt?: string;
  readonly viewsLeft?: number | null;
}

export interface FakeVisitorSettings {
  /** What the link leads to; without it the link is one that is unavailable. */
  readonly share?: FakeShared;
  /** What links to requests lead to; unavailable unless told otherwise. */
  readonly requests?: Pick<Visitor, "lookAtRequest" | "answer">;
}

export interface FakeVisitor extends Visitor {
  /** From now on the member rejects so; null ends it. */
  readonly failWith: (member: "lookAtShare" | "openShare", code: ErrorCode | null) => void;
  /** Every call by name, in order. */
  readonly calls: readonly string[];
  /** Ends the share: expired, revoked or used up. */
  readonly endShare: () => void;
}

/** A visitor in memory: same members, same errors as the real one. */
export function createFakeVisitor({ share, requests }: FakeVisitorSettings = {}): FakeVisitor {
  const calls: string[] = [];
  const failures = new Map<string, ErrorCode>();
  let { viewsLeft = null } = share ?? {};
  let available = share !== undefined;
  let triesLeft: number = maxWrongPasswords;

  const enter = (member: "lookAtShare" | "openShare", options?: CallOptions): FakeShared => {
    calls.push(member);
    if (options?.signal?.aborted === true) throw new PortalError("cancelled");
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
    if (share === undefined || !available || viewsLeft === 0 || triesLeft === 0) throw new PortalError("share_unavailable");
    return share;
  };
  return Object.freeze<FakeVisitor>({
    calls,
    failWith: (member, code) => {
      if (code === null) failures.delete(member);
      else failures.set(member, code);
    },
    endShare: () => {
      available = false;
    },
    lookAtShare: async (_shareId, options) => {
      const { audience = "public", from = "bruno", password, picture, expiresAt = inAWeek() } = enter("lookAtShare", options);
      return Promise.resolve({ audience, from: { userName: from }, password: password !== undefined, picture: picture !== undefined, expiresAt, viewsLeft });
    },
    openShare: async (shareId, answers, options) => {
      const asked = enter("openShare", options);
      options?.onProgress?.({ phase: "picture", step: "decoding", done: 0, total: 1 });
      if (asked.picture !== undefined) {
        if (answers.picture === null) throw new PortalError("picture_needed");
        const given = whatIsShown(answers.picture);
        if ("kind" in given || (await textOf(given.picture)) !== asked.picture) throw new PortalError("not_this_picture");
      }
      if (asked.password !== undefined && answers.password !== asked.password) {
        triesLeft--;
        throw triesLeft === 0 ? new PortalError("share_unavailable") : new PortalError("wrong_password", { details: { tries_left: triesLeft } });
      }
      if (viewsLeft !== null) viewsLeft--;
      const userName = asked.from ?? "bruno";
      return openedShareOf(asked, { shareId, sender: { userId: "01890a5d-ac96-7000-8000-0000000000b0", userName, standing: "says", words: wordsFor(userName) } });
    },
    lookAtRequest: requests?.lookAtRequest ?? (() => Promise.reject(new PortalError("request_unavailable"))),
    answer: requests?.answer ?? (() => Promise.reject(new PortalError("request_unavailable"))),
    PictureField: FakePictureField,
    forgetShown,
    close: () => {
      calls.push("close");
      available = false;
    },
  });
}

function openedShareOf(share: FakeContent & { readonly title: string }, given: { readonly shareId: string; readonly sender: Sender }): OpenedShare {
  return { ...openedContent(share), ...given, title: share.title };
}
