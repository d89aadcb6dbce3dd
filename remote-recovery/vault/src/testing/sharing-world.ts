import type { HttpClient, LinkSecret } from "@relicario/shared/contract";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";

import { protect } from "../operations/protect.ts";
import { findPerson } from "../people/people.ts";
import { createShare, type CreatedShare, type NewShareRequest } from "../shares/create-share.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { openVisitorContext, type VisitorContext } from "../visitor/visitor-context.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { createFakeService, type FakeService } from "./fake-service.ts";
import { createFakeEngine } from "./fake-engine.ts";
import { createFakeSharing, type FakeShare, type FakeSharing } from "./fake-shares.ts";
import { createWorld, makePicture, textSecret, type World } from "./world.ts";

/**
 * Ada has one secret protected by the picture "market", Ben one protected by "harbour". Both are
 * unlocked and have pinned no one.
 */
export interface SharingWorld {
  readonly sharing: FakeSharing;
  readonly ada: World;
  readonly ben: World;
  readonly adasVault: VaultSession;
  readonly bensVault: VaultSession;
  readonly secretId: string;
  /** Opens the secret with its picture. */
  readonly share: (request: Partial<NewShareRequest>, opener?: PresentedPicture) => Promise<CreatedShare>;
  /** Returns the share's id. */
  readonly shareWithBen: () => Promise<string>;
  /** Opens a link, optionally signed in as `signedIn`. */
  readonly visit: (link: string | null, signedIn?: World) => VisitorContext & { readonly service: FakeService };
  readonly requireStoredShare: (shareId: string) => FakeShare;
}

export const marketPicture: PresentedPicture = makePicture("market");

const bensId = "019a9e2c-7c1e-7abc-8def-ba9876543210";
const dayMs = 24 * 60 * 60 * 1000;

/** @param bensAccount false if Ben is signed in but has no account yet */
export async function createSharingWorld({ bensAccount = true } = {}): Promise<SharingWorld> {
  const sharing = createFakeSharing();
  const [ada, ben] = [
    createWorld({ userName: "Ada", sharing }),
    createWorld({ userId: bensId, userName: "Ben", sharing }),
  ];
  const [adasVault, bensVault] = [await ada.open(), await ben.open()];
  const { secretId } = await protect(adasVault, textSecret("First", makePicture("market")), {});
  if (bensAccount) await protect(bensVault, textSecret("Ben's own", makePicture("harbour")), {});

  const share: SharingWorld["share"] = (request, opener = marketPicture) =>
    createShare(adasVault, makeShareRequest(secretId, request), opener, {});
  return {
    sharing,
    ada,
    ben,
    adasVault,
    bensVault,
    secretId,
    share,
    shareWithBen: async () =>
      (await share({ to: { audience: "person", person: await findPerson(adasVault, "Ben") } })).shareId,
    visit: (link, signedIn) => {
      const service = signedIn?.service ?? createFakeService("nobody");
      service.sharing ??= { state: sharing, me: null };
      return Object.assign(openVisitor(service.http, link), { service });
    },
    requireStoredShare: (shareId) => {
      const match = sharing.shares.get(shareId);
      if (match === undefined) throw new TypeError("expected a stored share");
      return match;
    },
  };
}

/** Creates a request to share by a public link. */
export function makeShareRequest(secretId: string, overrides: Partial<NewShareRequest> = {}): NewShareRequest {
  return {
    secretId,
    to: { audience: "public" },
    expiresAt: new Date(Date.now() + 7 * dayMs).toISOString(),
    maxViews: null,
    password: null,
    picture: null,
    notify: false,
    ...overrides,
  };
}

export function openVisitor(http: HttpClient, link: string | null): VisitorContext {
  let pendingSecret = link === null ? null : parseLink(link);
  return openVisitorContext({
    http,
    engine: createFakeEngine(),
    now: Date.now,
    pause: () => Promise.resolve(),
    takeLinkSecret: async () => {
      const secret = pendingSecret;
      pendingSecret = null;
      return Promise.resolve(secret);
    },
  });
}

/** Parses the secret of a link from an address, like the host. */
function parseLink(link: string): LinkSecret {
  const { pathname, hash } = new URL(link, "https://portal.example");
  return { path: pathname, s: new URLSearchParams(hash.slice(1)).get("s") ?? "", n: null };
}

export function decodeText(content: Uint8Array | null): string {
  return new TextDecoder().decode(content ?? new Uint8Array());
}

/**
 * Returns the code of the PortalError that a promise rejects with, or `none`. Throws other errors.
 */
export async function readErrorCode(promise: Promise<unknown>): Promise<ErrorCode | "none"> {
  try {
    await promise;
    return "none";
  } catch (error) {
    if (error instanceof PortalError) return error.code;
    throw error;
  }
}
