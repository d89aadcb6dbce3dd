import { maxShareViews, maxWrongPasswords, shareDays, ShareId } from "../api/index.ts";
import type {
  CallOptions,
  FoundPerson,
  OpenedShare,
  PersonKeys,
  ReceivedShare,
  SecretShare,
  Sender,
  ShareAudience,
  ShareMark,
  ShareRequest,
  Standing,
  VaultPeople,
  VaultReceived,
  VaultShares,
  Visitor,
} from "../contract/index.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { refuseCancelled, refuseFields, type FakeAccount } from "./fake-account.ts";
import type { Enter } from "./fake-call.ts";
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

export interface FakeSharing {
  readonly members: { readonly shares: VaultShares; readonly people: VaultPeople; readonly received: VaultReceived };
  /** Marks live shares as over. */
  readonly end: (ends: (share: ShareMark) => boolean) => void;
  /** Nothing is shared and nobody known any more. */
  readonly forget: () => void;
}

const week = 7 * 86_400_000;
const inAWeek = () => new Date(Date.now() + week).toISOString();

/** Eight words, as a name says them. */
function wordsFor(name: string, former = false): readonly string[] {
  return ["north", "cactus", "river", "orbit", "velvet", "lemon", "anchor", former ? "before" : "today"].map(
    (word, index) => (index === 0 ? `${word}-${name}` : word),
  );
}

interface KeptPerson {
  readonly userId: string;
  readonly userName: string;
  readonly pinnedAt: string | null;
  readonly standing: Standing;
  readonly blocked: boolean;
  readonly formerName?: string | undefined;
  /** Whose keys the directory gives; the words say it. */
  readonly keys: string;
}

const now = () => new Date().toISOString();

/** Whether a share may last until then. */
function isTooLong(expiresAt: string): boolean {
  const left = Date.parse(expiresAt) - Date.now();
  return !(left > 0 && left <= shareDays.most * 86_400_000);
}

function isNoLimit(views: number | null | undefined): boolean {
  return views != null && (!Number.isInteger(views) || views < 1 || views > maxShareViews);
}

/** Shares, people and received of the fake vault, in memory. */
export function createFakeSharing(
  { people = [], received = [], shares = [] }: FakeSharingSettings,
  account: FakeAccount,
  enter: Enter,
): FakeSharing {
  const directory = new Map<string, KeptPerson>();
  const own = new Map<string, SecretShare>();
  let made = 0;
  const nextId = () => `${(++made).toString(36).padStart(21, "s")}A`; // 16 bytes in base64url
  const add = ({ userName, standing = "unknown", blocked = false, formerName }: FakePerson): KeptPerson => {
    const known = [...directory.values()].find((each) => each.userName === userName);
    if (known !== undefined) return known;
    const userId = `01890a5d-ac96-7000-8000-${(directory.size + 1).toString(16).padStart(12, "b")}`;
    const person = {
      userId,
      userName,
      standing,
      blocked,
      formerName,
      keys: formerName ?? userName,
      pinnedAt: standing === "unknown" ? null : "2026-11-01T09:00:00.000Z",
    };
    directory.set(userId, person);
    return person;
  };
  for (const person of people) add(person);
  for (const share of shares) {
    const usual = {
      version: 1,
      audience: "public",
      createdAt: "2026-11-20T10:00:00.000Z",
      expiresAt: inAWeek(),
      revokedAt: null,
      person: null,
      password: false,
      picture: false,
    } as const;
    own.set(share.shareId, {
      ...usual,
      views: 0,
      maxViews: null,
      lastOpenedAt: null,
      state: "live",
      outdated: false,
      doubt: null,
      ...share,
    });
  }
  const inbox = new Map(
    received.map((each) => {
      const shareId = nextId();
      return [shareId, { ...each, shareId, userId: add({ userName: each.from }).userId }] as const;
    }),
  );

  const isUnlocked = () => account.getState().status === "unlocked";
  const personOf = (userId: string): KeptPerson => {
    const person = directory.get(userId);
    if (person === undefined) throw new PortalError("not_found");
    return person;
  };
  const described = ({ userId, userName, standing, blocked, formerName, keys }: KeptPerson): FoundPerson => ({
    userId,
    userName,
    standing,
    blocked,
    words: wordsFor(keys),
    formerWords: standing === "changed" ? wordsFor(keys, formerName === undefined) : null,
    formerName: standing === "changed" ? (formerName ?? null) : null,
  });
  const detailsOf = ({ userId, userName, words, formerWords, formerName }: FoundPerson) => ({
    user_id: userId,
    user_name: userName,
    words,
    ...(formerWords === null ? {} : { former_words: formerWords }),
    ...(formerName === null ? {} : { former_name: formerName }),
  });
  const refuseOthersThan = ({ userId, words }: PersonKeys) => {
    const found = described(personOf(userId));
    if (found.words.join(" ") !== words.join(" "))
      throw new PortalError("person_changed", { details: detailsOf({ ...found, formerWords: words }) });
  };
  /** As the book has it, which does not know what the directory says by now. */
  const pinned = (person: KeptPerson): FoundPerson => {
    const { standing, words, formerWords, formerName, ...found } = described(person);
    if (standing !== "changed") return described(person);
    return {
      ...found,
      userName: formerName ?? found.userName,
      words: formerWords ?? words,
      standing: "known",
      formerWords: null,
      formerName: null,
    };
  };
  const change = (userId: string, next: Partial<KeptPerson>) => {
    directory.set(userId, { ...personOf(userId), ...next });
  };
  const pin = (userId: string) => {
    const { standing } = personOf(userId);
    if (standing === "known" || standing === "compared") return;
    const newest = [...directory.values()].map(({ pinnedAt }) => Date.parse(pinnedAt ?? "1970-01-01"));
    change(userId, {
      standing: "known",
      formerName: undefined,
      pinnedAt: new Date(Math.max(Date.now(), ...newest.map((at) => at + 1))).toISOString(),
    });
  };
  const requireShare = (shareId: string): SecretShare => {
    const share = own.get(shareId);
    if (share === undefined) throw new PortalError("not_found");
    return share;
  };
  const requireLive = (shareId: string): SecretShare => {
    const share = requireShare(shareId);
    if (share.revokedAt !== null || Date.parse(share.expiresAt) <= Date.now())
      throw new PortalError("share_unavailable");
    return share;
  };
  const end: FakeSharing["end"] = (ends) => {
    for (const share of own.values())
      if (share.revokedAt === null && ends(share))
        own.set(share.shareId, { ...share, state: "revoked", revokedAt: now() });
  };
  const receivedOf = ({
    shareId,
    userId,
    ...share
  }: FakeReceived & { readonly shareId: string; readonly userId: string }): ReceivedShare => {
    const { userName, standing, blocked, formerName } = personOf(userId);
    const {
      audience = "person",
      createdAt = "2026-11-20T10:00:00.000Z",
      expiresAt = inAWeek(),
      openedAt = null,
      viewsLeft = null,
      available = true,
    } = share;
    const known = standing === "changed" && formerName === undefined ? "known" : standing; // the list asks no directory
    const from = isUnlocked()
      ? { userName: formerName ?? userName, standing: known, blocked }
      : { userName, standing: "unknown" as const, blocked: false };
    return { shareId, from: { userId, ...from }, audience, createdAt, expiresAt, openedAt, viewsLeft, available };
  };
  const linkOf = ({ shareId, audience }: SecretShare) =>
    `https://portal.example/${audience === "public" ? "shared" : "p-shared"}/${shareId}${audience === "person" ? "" : "#s=key"}`;
  const versionOf = (secretId: string): number => account.require(secretId).versions.length;
  /** @throws PortalError as far as it can be told before a secret is opened. */
  const checkRequest = ({ to, expiresAt, maxViews, password, picture }: ShareRequest) => {
    const isPerson = to.audience === "person";
    refuseFields({
      expires_at: isTooLong(expiresAt),
      max_views: isNoLimit(maxViews),
      password: isPerson && password !== null,
      picture: isPerson && picture !== null,
    });
  };
  const refuseOpener = async (picture: ShareRequest["picture"]) => {
    if (picture === null) return;
    const text = await textOf(account.resolvePicture(picture).picture);
    if (account.openers.some(({ kind, secret }) => kind === "image" && secret === text))
      throw new PortalError("picture_is_opener");
  };
  const pinRecipient = (to: ShareRequest["to"]): SecretShare["person"] => {
    if (to.audience !== "person") return null;
    const { userId, userName } = to.person;
    refuseOthersThan(to.person);
    const found = described(personOf(userId));
    if (found.standing === "changed") throw new PortalError("person_changed", { details: detailsOf(found) });
    pin(userId);
    return { userId, userName };
  };

  const vaultShares: VaultShares = {
    create: async (request, by, options) => {
      enter("shares.create", options);
      const { secretId, to, expiresAt, maxViews, password, picture } = request;
      account.resolve(by);
      if (picture !== null) account.resolvePicture(picture);
      checkRequest(request);
      const { secret } = await account.openWith(secretId, by);
      if (secret.deletedAt !== null) throw new PortalError("not_found");
      await refuseOpener(picture);
      const person = pinRecipient(to);
      const shareId = nextId();
      const share: SecretShare = {
        shareId,
        secretId,
        version: versionOf(secretId),
        audience: to.audience,
        createdAt: now(),
        expiresAt,
        revokedAt: null,
        person,
        password: password !== null && password !== "",
        picture: picture !== null,
        views: 0,
        maxViews,
        lastOpenedAt: null,
        state: "live",
        outdated: false,
        doubt: null,
      };
      own.set(shareId, share);
      return { shareId, link: person === null ? linkOf(share) : null };
    },
    all: async () => {
      enter("shares.all");
      const marks = [...own.values()].map(
        ({ shareId, secretId, version, audience, createdAt, expiresAt, revokedAt }) => ({
          shareId,
          secretId,
          version,
          audience,
          createdAt,
          expiresAt,
          revokedAt,
        }),
      );
      return Promise.resolve(isUnlocked() ? marks.toReversed() : []);
    },
    ofSecret: async (secretId, options) => {
      enter("shares.ofSecret", options);
      account.requireUnlocked();
      const version = versionOf(secretId);
      const listed = [...own.values()].filter(
        (share) =>
          share.secretId === secretId && (share.state === "live" || share.doubt !== null || options?.ended === true),
      );
      return Promise.resolve(
        listed.map((share) => ({ ...share, outdated: share.outdated || share.version < version })).toReversed(),
      );
    },
    showLink: async (shareId, opener, options) => {
      enter("shares.showLink", options);
      await account.requireShown(opener);
      return linkOf(requireLive(shareId));
    },
    change: async (shareId, next, options) => {
      enter("shares.change", options);
      refuseFields({
        expires_at: next.expiresAt !== undefined && isTooLong(next.expiresAt),
        max_views: isNoLimit(next.maxViews),
      });
      account.requireUnlocked();
      own.set(shareId, { ...requireLive(shareId), ...next });
      return Promise.resolve();
    },
    updateContent: async (shareId, by, options) => {
      enter("shares.updateContent", options);
      if (!isUnlocked()) await account.show(by);
      const { secretId } = requireLive(shareId);
      await account.openWith(secretId, by);
      own.set(shareId, { ...requireLive(shareId), version: versionOf(secretId), outdated: false });
    },
    revoke: async (shareId, options) => {
      enter("shares.revoke", options);
      const share = own.get(shareId);
      if (share === undefined && !ShareId.safeParse(shareId).success) throw new PortalError("not_found");
      if (share?.doubt === "unknown") own.delete(shareId); // no mark of it stands anywhere
      else if (share !== undefined && isUnlocked())
        own.set(shareId, { ...share, state: "revoked", revokedAt: share.revokedAt ?? now(), doubt: null });
      account.requireUnlocked();
      return Promise.resolve();
    },
  };

  const vaultPeople: VaultPeople = {
    find: async (userName, options) => {
      enter("people.find", options);
      account.requireUnlocked();
      const person = [...directory.values()].find((each) => each.userName.toLowerCase() === userName.toLowerCase());
      if (person === undefined) throw new PortalError("not_found");
      return Promise.resolve({ ...described(person), userName });
    },
    list: async () => {
      enter("people.list");
      const known = [...directory.values()].flatMap((person) =>
        person.pinnedAt === null ? [] : [{ ...pinned(person), pinnedAt: person.pinnedAt }],
      );
      return Promise.resolve(
        isUnlocked() ? known.toSorted((left, right) => (left.pinnedAt < right.pinnedAt ? 1 : -1)) : [],
      );
    },
    pin: async (person, options) => {
      enter("people.pin", options);
      account.requireUnlocked();
      refuseOthersThan(person);
      pin(person.userId);
      return Promise.resolve();
    },
    setCompared: async (userId, compared) => {
      enter("people.setCompared");
      account.requireUnlocked();
      if (personOf(userId).pinnedAt === null) throw new PortalError("not_found");
      change(userId, { standing: compared ? "compared" : "known" });
      return Promise.resolve();
    },
    setBlocked: async (person, blocked) => {
      enter("people.setBlocked");
      account.requireUnlocked();
      const { userId } = person;
      if (personOf(userId).pinnedAt === null) {
        if (!blocked) throw new PortalError("not_found");
        refuseOthersThan(person);
        pin(userId);
      }
      change(userId, { blocked });
      return Promise.resolve();
    },
    mine: async () => {
      enter("people.mine");
      account.requireUnlocked();
      return Promise.resolve({ userName: "alba", words: wordsFor("alba") });
    },
  };

  const vaultReceived: VaultReceived = {
    list: async (options) => {
      enter("received.list", options);
      return Promise.resolve(
        [...inbox.values()].map(receivedOf).filter(({ available }) => available || options?.ended === true),
      );
    },
    open: async (shareId, opener, options) => {
      enter("received.open", options);
      const share = inbox.get(shareId);
      if (share === undefined && !ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
      await account.requireShown(opener);
      if (share === undefined || !receivedOf(share).available) throw new PortalError("share_unavailable");
      const { viewsLeft } = receivedOf(share);
      const person = described(personOf(share.userId));
      const details = detailsOf(person);
      if (person.blocked)
        throw new PortalError("person_blocked", {
          details: detailsOf({ ...pinned(personOf(share.userId)), formerWords: null, formerName: null }),
        });
      if (person.standing === "changed") throw new PortalError("person_changed", { details });
      if (person.standing === "unknown" && options?.accept?.join(" ") !== person.words.join(" "))
        throw new PortalError("person_unknown", { details });
      if (person.standing === "unknown") pin(share.userId);
      inbox.set(shareId, {
        ...share,
        openedAt: now(),
        ...(viewsLeft === null ? {} : { viewsLeft: viewsLeft - 1, available: viewsLeft > 1 }),
      });
      const standing = person.standing === "compared" ? "compared" : "known";
      const locks = account.locks();
      return openedShareOf(
        share,
        { shareId, sender: { userId: person.userId, userName: person.userName, standing, words: person.words } },
        () => account.locks() > locks,
      );
    },
  };

  return {
    members: { shares: vaultShares, people: vaultPeople, received: vaultReceived },
    end,
    forget: () => {
      own.clear();
      for (const { userId } of directory.values())
        change(userId, { standing: "unknown", pinnedAt: null, blocked: false, formerName: undefined });
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
  let isClosed = false;
  let triesLeft: number = maxWrongPasswords;

  const enter = (member: "lookAtShare" | "openShare", shareId: string, options?: CallOptions): FakeShared => {
    calls.push(member);
    refuseCancelled(options);
    const code = failures.get(member);
    if (code !== undefined) throw new PortalError(code);
    if (!ShareId.safeParse(shareId).success || share === undefined) throw new PortalError("share_unavailable");
    if (isClosed) throw new PortalError("link_incomplete");
    if (!available || viewsLeft === 0 || triesLeft === 0) throw new PortalError("share_unavailable");
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
    lookAtShare: async (shareId, options) => {
      const {
        audience = "public",
        from = "bruno",
        password,
        picture,
        expiresAt = inAWeek(),
      } = enter("lookAtShare", shareId, options);
      return Promise.resolve({
        audience,
        from: { userName: from },
        password: password !== undefined,
        picture: picture !== undefined,
        expiresAt,
        viewsLeft,
      });
    },
    openShare: async (shareId, { password, picture }, options) => {
      const shown = picture === null ? null : whatIsShown(picture);
      const asked = enter("openShare", shareId, options);
      options?.onProgress?.({ phase: "fetching", done: 0, total: 1 });
      refuseFields({ password: asked.password !== undefined && (password ?? "") === "" });
      if (asked.picture !== undefined) {
        if (shown === null || "kind" in shown) throw new PortalError("picture_needed");
        if ((await textOf(shown.picture)) !== asked.picture) throw new PortalError("not_this_picture");
      }
      options?.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
      if (asked.password !== undefined && password !== asked.password)
        throw new PortalError("wrong_password", { details: { tries_left: --triesLeft } });
      if (viewsLeft !== null) viewsLeft--;
      return openedShareOf(asked, {
        shareId,
        sender: {
          userId: "01890a5d-ac96-7000-8000-0000000000b0",
          userName: asked.from ?? "bruno",
          standing: "says",
          words: [],
        },
      });
    },
    lookAtRequest: async (requestId, options) => {
      if (isClosed) throw new PortalError("link_incomplete");
      if (requests === undefined) throw new PortalError("request_unavailable");
      return requests.lookAtRequest(requestId, options);
    },
    answer: async (requestId, provided, options) => {
      if (isClosed) throw new PortalError("link_incomplete");
      if (requests === undefined) throw new PortalError("request_unavailable");
      return requests.answer(requestId, provided, options);
    },
    PictureField: FakePictureField,
    forgetShown,
    close: () => {
      calls.push("close");
      isClosed = true;
    },
  });
}

function openedShareOf(
  share: FakeContent & { readonly title: string },
  given: { readonly shareId: string; readonly sender: Sender },
  isLocked?: () => boolean,
): OpenedShare {
  return { ...openedContent(share, isLocked), ...given, title: share.title };
}
