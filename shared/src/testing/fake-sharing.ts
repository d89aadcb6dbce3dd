import { maxShareViews, maxWrongPasswords, shareLifetimeDays, ShareId } from "../api/index.ts";
import type {
  CallOptions,
  PersonRecord,
  OpenedShare,
  PersonKeys,
  ReceivedShare,
  SecretShare,
  Sender,
  ShareAudience,
  ShareSummary,
  NewShareInput,
  TrustLevel,
  VaultPeople,
  VaultReceived,
  VaultShares,
  Visitor,
} from "../contract/index.ts";
import { requiredStrength } from "../contract/strength-level.ts";
import { estimateStrength } from "../contract/strength.ts";
import { PortalError, type ErrorCode } from "../errors/index.ts";
import { throwIfCancelled, throwIfInvalid, type FakeAccount } from "./fake-account.ts";
import type { RecordCall } from "./fake-call.ts";
import { createOpenedContent, type FakeContent } from "./fake-content.tsx";
import { FakePictureField, releaseOpener, readBlobText, resolveHandle } from "./fake-picture-field.tsx";

/** A person in the key directory. */
export interface FakePerson {
  readonly userName: string;
  /** `unknown` by default. */
  readonly trust?: TrustLevel;
  readonly blocked?: boolean;
  /** With `changed`: user name under which the same keys are pinned. */
  readonly formerName?: string;
}

/** A share that this account received. */
export interface FakeReceivedShare extends FakeContent {
  readonly title: string;
  /** User name of the sender. */
  readonly from: string;
  readonly audience?: ShareAudience;
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly expiresAt?: string;
  readonly openedAt?: string | null;
  readonly viewsLeft?: number | null;
  readonly available?: boolean;
}

/** An existing share of this account; by default a live public link. */
export type FakeOwnShare = Partial<SecretShare> & Pick<SecretShare, "shareId" | "secretId">;

export interface FakeSharingSettings {
  /** Newest last. */
  readonly shares?: readonly FakeOwnShare[];
  readonly people?: readonly FakePerson[];
  /** Newest first. Senders are added to the directory. */
  readonly received?: readonly FakeReceivedShare[];
}

export interface FakeSharing {
  readonly members: { readonly shares: VaultShares; readonly people: VaultPeople; readonly received: VaultReceived };
  readonly endShares: (shouldEnd: (share: ShareSummary) => boolean) => void;
  /** Removes all shares and pins. */
  readonly clear: () => void;
}

const weekMilliseconds = 7 * 86_400_000;
const getNextWeek = () => new Date(Date.now() + weekMilliseconds).toISOString();

function createSafetyWords(name: string, isFormer = false): readonly string[] {
  return ["north", "cactus", "river", "orbit", "velvet", "lemon", "anchor", isFormer ? "before" : "today"].map(
    (word, index) => (index === 0 ? `${word}-${name}` : word),
  );
}

interface InMemoryPerson {
  readonly userId: string;
  readonly userName: string;
  readonly pinnedAt: string | null;
  readonly trust: TrustLevel;
  readonly blocked: boolean;
  readonly formerName?: string | undefined;
  /** Name from which the safety words of the person's current keys are derived. */
  readonly keyOwner: string;
}

const getTimestamp = () => new Date().toISOString();

function isInvalidExpiry(expiresAt: string): boolean {
  const remainingMs = Date.parse(expiresAt) - Date.now();
  return !(remainingMs > 0 && remainingMs <= shareLifetimeDays.maximum * 86_400_000);
}

function isInvalidViewLimit(views: number | null | undefined): boolean {
  return views != null && (!Number.isInteger(views) || views < 1 || views > maxShareViews);
}

/** Creates shares, people and received shares of the fake vault, in memory. */
export function createFakeSharing(
  { people = [], received = [], shares = [] }: FakeSharingSettings,
  account: FakeAccount,
  recordCall: RecordCall,
): FakeSharing {
  const directory = new Map<string, InMemoryPerson>();
  const ownShares = new Map<string, SecretShare>();
  let createdCount = 0;
  const nextId = () => `${(++createdCount).toString(36).padStart(21, "s")}A`; // 16 bytes as base64url
  const addPerson = ({ userName, trust = "unknown", blocked = false, formerName }: FakePerson): InMemoryPerson => {
    const existing = [...directory.values()].find((candidate) => candidate.userName === userName);
    if (existing !== undefined) return existing;
    const userId = `01890a5d-ac96-7000-8000-${(directory.size + 1).toString(16).padStart(12, "b")}`;
    const person = {
      userId,
      userName,
      trust,
      blocked,
      formerName,
      keyOwner: formerName ?? userName,
      pinnedAt: trust === "unknown" ? null : "2026-11-01T09:00:00.000Z",
    };
    directory.set(userId, person);
    return person;
  };
  for (const person of people) addPerson(person);
  for (const share of shares) {
    const defaults = {
      version: 1,
      audience: "public",
      createdAt: "2026-11-20T10:00:00.000Z",
      expiresAt: getNextWeek(),
      revokedAt: null,
      person: null,
      hasPassword: false,
      hasPicture: false,
    } as const;
    ownShares.set(share.shareId, {
      ...defaults,
      views: 0,
      maxViews: null,
      lastOpenedAt: null,
      state: "live",
      outdated: false,
      discrepancy: null,
      ...share,
    });
  }
  const inbox = new Map(
    received.map((share) => {
      const shareId = nextId();
      return [shareId, { ...share, shareId, userId: addPerson({ userName: share.from }).userId }] as const;
    }),
  );

  const isUnlocked = () => account.getState().status === "unlocked";
  const requirePerson = (userId: string): InMemoryPerson => {
    const person = directory.get(userId);
    if (person === undefined) throw new PortalError("not_found");
    return person;
  };
  const toPersonRecord = ({
    userId,
    userName,
    trust,
    blocked,
    formerName,
    keyOwner,
  }: InMemoryPerson): PersonRecord => ({
    userId,
    userName,
    trust,
    blocked,
    safetyWords: createSafetyWords(keyOwner),
    formerSafetyWords: trust === "changed" ? createSafetyWords(keyOwner, formerName === undefined) : null,
    formerName: trust === "changed" ? (formerName ?? null) : null,
  });
  const toErrorDetails = ({ userId, userName, safetyWords, formerSafetyWords, formerName }: PersonRecord) => ({
    user_id: userId,
    user_name: userName,
    words: safetyWords,
    ...(formerSafetyWords === null ? {} : { former_words: formerSafetyWords }),
    ...(formerName === null ? {} : { former_name: formerName }),
  });
  const requireSameKeys = ({ userId, safetyWords }: PersonKeys) => {
    const person = toPersonRecord(requirePerson(userId));
    if (person.safetyWords.join(" ") !== safetyWords.join(" "))
      throw new PortalError("person_changed", {
        details: toErrorDetails({ ...person, formerSafetyWords: safetyWords }),
      });
  };
  /** Record of a person from the book only, which does not have the directory's current keys. */
  const toPinnedRecord = (person: InMemoryPerson): PersonRecord => {
    const { trust, safetyWords, formerSafetyWords, formerName, ...rest } = toPersonRecord(person);
    if (trust !== "changed") return toPersonRecord(person);
    return {
      ...rest,
      userName: formerName ?? rest.userName,
      safetyWords: formerSafetyWords ?? safetyWords,
      trust: "known",
      formerSafetyWords: null,
      formerName: null,
    };
  };
  const updatePerson = (userId: string, next: Partial<InMemoryPerson>) => {
    directory.set(userId, { ...requirePerson(userId), ...next });
  };
  const pin = (userId: string) => {
    const { trust } = requirePerson(userId);
    if (trust === "known" || trust === "compared") return;
    const pinTimes = [...directory.values()].map(({ pinnedAt }) => Date.parse(pinnedAt ?? "1970-01-01"));
    updatePerson(userId, {
      trust: "known",
      formerName: undefined,
      pinnedAt: new Date(Math.max(Date.now(), ...pinTimes.map((time) => time + 1))).toISOString(),
    });
  };
  const requireShare = (shareId: string): SecretShare => {
    const share = ownShares.get(shareId);
    if (share === undefined) throw new PortalError("not_found");
    return share;
  };
  const requireLive = (shareId: string): SecretShare => {
    const share = requireShare(shareId);
    if (share.revokedAt !== null || Date.parse(share.expiresAt) <= Date.now())
      throw new PortalError("share_unavailable");
    return share;
  };
  const endShares: FakeSharing["endShares"] = (shouldEnd) => {
    for (const share of ownShares.values())
      if (share.revokedAt === null && shouldEnd(share))
        ownShares.set(share.shareId, { ...share, state: "revoked", revokedAt: getTimestamp() });
  };
  const toReceivedShare = ({
    shareId,
    userId,
    ...share
  }: FakeReceivedShare & { readonly shareId: string; readonly userId: string }): ReceivedShare => {
    const { userName, trust, blocked, formerName } = requirePerson(userId);
    const {
      audience = "person",
      createdAt = "2026-11-20T10:00:00.000Z",
      expiresAt = getNextWeek(),
      openedAt = null,
      viewsLeft = null,
      available = true,
    } = share;
    const pinnedTrust = trust === "changed" && formerName === undefined ? "known" : trust; // the list does not ask the directory
    const from = isUnlocked()
      ? { userName: formerName ?? userName, trust: pinnedTrust, blocked }
      : { userName, trust: "unknown" as const, blocked: false };
    return { shareId, from: { userId, ...from }, audience, createdAt, expiresAt, openedAt, viewsLeft, available };
  };
  const buildLink = ({ shareId, audience }: SecretShare) =>
    `https://portal.example/${audience === "public" ? "shared" : "p-shared"}/${shareId}${audience === "person" ? "" : "#s=key"}`;
  const getNewestVersion = (secretId: string): number => account.requireSecret(secretId).versions.length;
  /** Validates the input as far as possible before the secret is opened. */
  const checkRequest = ({ to, expiresAt, maxViews, password, picture }: NewShareInput) => {
    const isPerson = to.audience === "person";
    throwIfInvalid({
      expires_at: isInvalidExpiry(expiresAt),
      max_views: isInvalidViewLimit(maxViews),
      password: isPerson && password !== null,
      picture: isPerson && picture !== null,
    });
  };
  const refuseOwnOpener = async (picture: NewShareInput["picture"]) => {
    if (picture === null) return;
    const text = await readBlobText(account.resolvePicture(picture).picture);
    if (account.openers.some(({ kind, credential }) => kind === "image" && credential === text))
      throw new PortalError("picture_is_opener");
  };
  const pinRecipient = (to: NewShareInput["to"]): SecretShare["person"] => {
    if (to.audience !== "person") return null;
    const { userId, userName } = to.person;
    requireSameKeys(to.person);
    const record = toPersonRecord(requirePerson(userId));
    if (record.trust === "changed") throw new PortalError("person_changed", { details: toErrorDetails(record) });
    pin(userId);
    return { userId, userName };
  };

  const vaultShares: VaultShares = {
    create: async (request, opener, options) => {
      recordCall("shares.create", options);
      const { secretId, to, expiresAt, maxViews, password, picture } = request;
      if (opener !== null) account.resolve(opener);
      if (picture !== null) account.resolvePicture(picture);
      checkRequest(request);
      if (password !== null && password !== "" && (await estimateStrength(password)) < requiredStrength)
        throw new PortalError("passphrase_too_weak");
      const { secret } = await account.openWith(secretId, opener);
      if (secret.deletedAt !== null) throw new PortalError("not_found");
      await refuseOwnOpener(picture);
      const person = pinRecipient(to);
      const shareId = nextId();
      const share: SecretShare = {
        shareId,
        secretId,
        version: getNewestVersion(secretId),
        audience: to.audience,
        createdAt: getTimestamp(),
        expiresAt,
        revokedAt: null,
        person,
        hasPassword: password !== null && password !== "",
        hasPicture: picture !== null,
        views: 0,
        maxViews,
        lastOpenedAt: null,
        state: "live",
        outdated: false,
        discrepancy: null,
      };
      ownShares.set(shareId, share);
      return { shareId, link: person === null ? buildLink(share) : null };
    },
    list: async () => {
      recordCall("shares.list");
      const summaries = [...ownShares.values()].map(
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
      return Promise.resolve(isUnlocked() ? summaries.toReversed() : []);
    },
    listForSecret: async (secretId, options) => {
      recordCall("shares.listForSecret", options);
      account.requireUnlocked();
      const version = getNewestVersion(secretId);
      const matchingShares = [...ownShares.values()].filter(
        (share) =>
          share.secretId === secretId &&
          (share.state === "live" || share.discrepancy !== null || options?.includeEnded === true),
      );
      return Promise.resolve(
        matchingShares.map((share) => ({ ...share, outdated: share.outdated || share.version < version })).toReversed(),
      );
    },
    getLink: async (shareId, opener, options) => {
      recordCall("shares.getLink", options);
      await account.requirePresented(opener);
      return buildLink(requireLive(shareId));
    },
    change: async (shareId, next, options) => {
      recordCall("shares.change", options);
      throwIfInvalid({
        expires_at: next.expiresAt !== undefined && isInvalidExpiry(next.expiresAt),
        max_views: isInvalidViewLimit(next.maxViews),
      });
      account.requireUnlocked();
      const share = requireLive(shareId);
      const isExtended =
        (next.expiresAt ?? share.expiresAt) > share.expiresAt ||
        (next.maxViews === undefined ? share.maxViews : next.maxViews) !== share.maxViews;
      if (isExtended) account.requireAuthor();
      ownShares.set(shareId, { ...share, ...next });
      return Promise.resolve();
    },
    updateContent: async (shareId, opener, options) => {
      recordCall("shares.updateContent", options);
      if (!isUnlocked()) {
        if (opener === null) throw new PortalError("show_opener_first");
        await account.presentHandle(opener);
      }
      const { secretId } = requireLive(shareId);
      await account.openWith(secretId, opener);
      ownShares.set(shareId, { ...requireLive(shareId), version: getNewestVersion(secretId), outdated: false });
    },
    revoke: async (shareId, options) => {
      recordCall("shares.revoke", options);
      const share = ownShares.get(shareId);
      if (share === undefined && !ShareId.safeParse(shareId).success) throw new PortalError("not_found");
      if (share?.discrepancy === "unknown") ownShares.delete(shareId); // the sealed document does not list it
      else if (share !== undefined && isUnlocked())
        ownShares.set(shareId, {
          ...share,
          state: "revoked",
          revokedAt: share.revokedAt ?? getTimestamp(),
          discrepancy: null,
        });
      account.requireUnlocked();
      return Promise.resolve();
    },
  };

  const vaultPeople: VaultPeople = {
    find: async (userName, options) => {
      recordCall("people.find", options);
      account.requireUnlocked();
      const person = [...directory.values()].find(
        (candidate) => candidate.userName.toLowerCase() === userName.toLowerCase(),
      );
      if (person === undefined) throw new PortalError("not_found");
      return Promise.resolve({ ...toPersonRecord(person), userName });
    },
    list: async () => {
      recordCall("people.list");
      const pinnedPeople = [...directory.values()].flatMap((person) =>
        person.pinnedAt === null ? [] : [{ ...toPinnedRecord(person), pinnedAt: person.pinnedAt }],
      );
      return Promise.resolve(
        isUnlocked() ? pinnedPeople.toSorted((left, right) => (left.pinnedAt < right.pinnedAt ? 1 : -1)) : [],
      );
    },
    pin: async (person, options) => {
      recordCall("people.pin", options);
      account.requireAuthor();
      requireSameKeys(person);
      pin(person.userId);
      return Promise.resolve();
    },
    setCompared: async (userId, isCompared) => {
      recordCall("people.setCompared");
      account.requireAuthor();
      if (requirePerson(userId).pinnedAt === null) throw new PortalError("not_found");
      updatePerson(userId, { trust: isCompared ? "compared" : "known" });
      return Promise.resolve();
    },
    setBlocked: async (person, blocked) => {
      recordCall("people.setBlocked");
      account.requireAuthor();
      const { userId } = person;
      if (requirePerson(userId).pinnedAt === null) {
        if (!blocked) throw new PortalError("not_found");
        requireSameKeys(person);
        pin(userId);
      }
      updatePerson(userId, { blocked });
      return Promise.resolve();
    },
    getOwnSafetyWords: async () => {
      recordCall("people.getOwnSafetyWords");
      account.requireUnlocked();
      return Promise.resolve({ userName: "alba", safetyWords: createSafetyWords("alba") });
    },
  };

  const vaultReceived: VaultReceived = {
    list: async (options) => {
      recordCall("received.list", options);
      return Promise.resolve(
        [...inbox.values()].map(toReceivedShare).filter(({ available }) => available || options?.includeEnded === true),
      );
    },
    open: async (shareId, opener, options) => {
      recordCall("received.open", options);
      const share = inbox.get(shareId);
      if (share === undefined && !ShareId.safeParse(shareId).success) throw new PortalError("share_unavailable");
      await account.requirePresented(opener);
      if (share === undefined || !toReceivedShare(share).available) throw new PortalError("share_unavailable");
      const { viewsLeft } = toReceivedShare(share);
      const person = toPersonRecord(requirePerson(share.userId));
      const details = toErrorDetails(person);
      if (person.blocked)
        throw new PortalError("person_blocked", {
          details: toErrorDetails({
            ...toPinnedRecord(requirePerson(share.userId)),
            formerSafetyWords: null,
            formerName: null,
          }),
        });
      if (person.trust === "changed") throw new PortalError("person_changed", { details });
      if (person.trust === "unknown" && options?.acceptedWords?.join(" ") !== person.safetyWords.join(" "))
        throw new PortalError("person_unknown", { details });
      if (person.trust === "unknown") pin(share.userId);
      inbox.set(shareId, {
        ...share,
        openedAt: getTimestamp(),
        ...(viewsLeft === null ? {} : { viewsLeft: viewsLeft - 1, available: viewsLeft > 1 }),
      });
      const trust = person.trust === "compared" ? "compared" : "known";
      const lockCount = account.getLockCount();
      return createOpenedShare(
        share,
        {
          shareId,
          sender: { userId: person.userId, userName: person.userName, trust, safetyWords: person.safetyWords },
        },
        () => account.getLockCount() > lockCount,
      );
    },
  };

  return {
    members: { shares: vaultShares, people: vaultPeople, received: vaultReceived },
    endShares,
    clear: () => {
      ownShares.clear();
      for (const { userId } of directory.values())
        updatePerson(userId, { trust: "unknown", pinnedAt: null, blocked: false, formerName: undefined });
    },
  };
}

export interface FakeLinkedShare extends FakeContent {
  readonly title: string;
  readonly from?: string;
  readonly audience?: ShareAudience;
  readonly password?: string;
  /** Text of the picture that the share requires. */
  readonly picture?: string;
  readonly expiresAt?: string;
  readonly viewsLeft?: number | null;
}

export interface FakeVisitorSettings {
  /** Share that the link opens. Without it the link is unavailable. */
  readonly share?: FakeLinkedShare;
  /** Requests that links open; by default unavailable. */
  readonly requests?: Pick<Visitor, "previewRequest" | "answer">;
}

export interface FakeVisitor extends Visitor {
  /** Makes the member reject with the code. Null ends the failures. */
  readonly failWith: (member: "previewShare" | "openShare", code: ErrorCode | null) => void;
  /** Names of all calls, in order. */
  readonly calls: readonly string[];
  /** Makes the share unavailable. */
  readonly endShare: () => void;
}

/** Creates a visitor in memory, with the members and errors of the real one. */
export function createFakeVisitor({ share, requests }: FakeVisitorSettings = {}): FakeVisitor {
  const calls: string[] = [];
  const failures = new Map<string, ErrorCode>();
  let { viewsLeft = null } = share ?? {};
  let available = share !== undefined;
  let isClosed = false;
  let triesLeft: number = maxWrongPasswords;

  const checkCall = (member: "previewShare" | "openShare", shareId: string, options?: CallOptions): FakeLinkedShare => {
    calls.push(member);
    throwIfCancelled(options);
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
    previewShare: async (shareId, options) => {
      const {
        audience = "public",
        from = "bruno",
        password,
        picture,
        expiresAt = getNextWeek(),
      } = checkCall("previewShare", shareId, options);
      return Promise.resolve({
        audience,
        from: { userName: from },
        hasPassword: password !== undefined,
        hasPicture: picture !== undefined,
        expiresAt,
        viewsLeft,
      });
    },
    openShare: async (shareId, { password, picture }, options) => {
      const presentedOpener = picture === null ? null : resolveHandle(picture);
      const linkedShare = checkCall("openShare", shareId, options);
      options?.onProgress?.({ phase: "fetching", done: 0, total: 1 });
      throwIfInvalid({ password: linkedShare.password !== undefined && (password ?? "") === "" });
      if (linkedShare.picture !== undefined) {
        if (presentedOpener === null || "kind" in presentedOpener) throw new PortalError("picture_needed");
        if ((await readBlobText(presentedOpener.picture)) !== linkedShare.picture)
          throw new PortalError("not_this_picture");
      }
      options?.onProgress?.({ phase: "passphrase", done: 0, total: 1 });
      if (linkedShare.password !== undefined && password !== linkedShare.password)
        throw new PortalError("wrong_password", { details: { tries_left: --triesLeft } });
      if (viewsLeft !== null) viewsLeft--;
      return createOpenedShare(linkedShare, {
        shareId,
        sender: {
          userId: "01890a5d-ac96-7000-8000-0000000000b0",
          userName: linkedShare.from ?? "bruno",
          trust: "says",
          safetyWords: [],
        },
      });
    },
    previewRequest: async (requestId, options) => {
      if (isClosed) throw new PortalError("link_incomplete");
      if (requests === undefined) throw new PortalError("request_unavailable");
      return requests.previewRequest(requestId, options);
    },
    answer: async (requestId, provided, options) => {
      if (isClosed) throw new PortalError("link_incomplete");
      if (requests === undefined) throw new PortalError("request_unavailable");
      return requests.answer(requestId, provided, options);
    },
    PictureField: FakePictureField,
    releaseOpener,
    close: () => {
      calls.push("close");
      isClosed = true;
    },
  });
}

function createOpenedShare(
  share: FakeContent & { readonly title: string },
  details: { readonly shareId: string; readonly sender: Sender },
  isLocked?: () => boolean,
): OpenedShare {
  return { ...createOpenedContent(share, isLocked), ...details, title: share.title };
}
