import type {
  DeviceKind,
  OpenerKind,
  OpenerHandle,
  TrustLevel,
  AccountResetStatus,
  Vault,
  Visitor,
} from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

/**
 * An account as an assertion finds it, in the words of the fake vault's settings. What is left out
 * is not there.
 */
export interface Scenario {
  /** Openers of all that is protected; "garden" where there are secrets and no images. */
  readonly images?: readonly ScenarioImage[];
  /** Oldest first. */
  readonly secrets?: readonly ScenarioSecret[];
  readonly keys?: readonly ScenarioKey[];
  /** Uploads that an earlier page of this device left. */
  readonly uploads?: readonly ScenarioUpload[];
  /** Everybody else of the key directory. */
  readonly people?: readonly {
    readonly userName: string;
    readonly trust?: TrustLevel;
    readonly blocked?: boolean;
    readonly formerName?: string;
  }[];
  /** What one of these people shared with this account. */
  readonly received?: readonly {
    readonly title: string;
    readonly content: string;
    readonly from: string;
    readonly viewsLeft?: number;
    readonly available?: boolean;
  }[];
  readonly ownRequests?: readonly {
    readonly title: string;
    readonly answer?: { readonly content: string; readonly note: string };
  }[];
  readonly accountReset?: Extract<AccountResetStatus["state"], "waiting" | "ready">;
  /** Another device of the account that waits to be admitted. */
  readonly requestingDevice?: { readonly name: string };
  /** True unless told otherwise. */
  readonly unlocked?: boolean;
  /** Its own unless told otherwise, on a locked device null. */
  readonly device?: DeviceKind | null;
}

interface ScenarioImage {
  readonly name: string;
  readonly picture: string;
  readonly passphrase?: string;
}

interface ScenarioSecret {
  readonly title: string;
  readonly content: string;
  readonly formerContents?: readonly string[];
  readonly deleted?: boolean;
  /** Too large to be held in memory; its content is then as of {@link Harness.largeText}. */
  readonly large?: boolean;
}

interface ScenarioKey {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  readonly secret: string;
  readonly opensExisting?: boolean;
}

interface ScenarioUpload {
  readonly title: string;
  readonly content: string;
  readonly name: string;
}

/** A vault, and what is around it. */
export interface Harness {
  readonly vault: Omit<Vault, "PictureField">;
  readonly makeHandle: (picture: string, passphrase?: string) => OpenerHandle;
  /** A recovery code by its words, a passkey by a digit. */
  readonly makeKeyHandle: (kind: ScenarioKey["kind"], secret: string) => OpenerHandle;
  /** What another device saves meanwhile. */
  readonly saveElsewhere: (
    secretId: string,
    change: { readonly title?: string; readonly content?: string },
  ) => Promise<void>;
  /** Somebody who has the link answers a request. */
  readonly answerElsewhere: (requestId: string, link: string) => Promise<void>;
  /** The code that the asking device of the scene shows. */
  readonly code: string;
  /** The device at hand admits what this one offers. */
  readonly admitElsewhere: (words: readonly string[]) => Promise<void>;
}

export type CreateHarness = (scenario: Scenario) => Promise<Harness>;

/** What a link leads to. */
export interface LinkScenario {
  readonly share?: {
    readonly title: string;
    readonly content: string;
    readonly from: string;
    readonly audience?: "public" | "signed_in";
    readonly password?: string;
    readonly picture?: string;
    readonly viewsLeft?: number;
    readonly large?: boolean;
  };
  readonly request?: {
    readonly title: string;
    readonly note: string;
    readonly requesterName: string;
    readonly maxSize: number;
  };
}

/** A page opened by a link. */
export interface LinkHarness {
  readonly visitor: Omit<Visitor, "PictureField">;
  /** Of the share or the request. */
  readonly id: string;
  readonly makeHandle: Harness["makeHandle"];
  /** Whoever made the link ends it. */
  readonly endLink: () => Promise<void>;
}

export type CreateLinkHarness = (scenario: LinkScenario) => Promise<LinkHarness>;

/** More than goes in one call. */
export const largeText = "a frame of a film\n".repeat(20_000);

export function errorWithCode(expected: ErrorCode, details?: Readonly<Record<string, unknown>>): unknown {
  return expect.objectContaining(
    details === undefined
      ? { code: expected }
      : { code: expected, details: expect.objectContaining(details) as unknown },
  );
}

export function requireFirst<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new RangeError("there is none");
  return row;
}

/** Ids of all secrets, oldest first. */
export async function idsOf({ list }: Pick<Vault, "list">): Promise<[string, ...string[]]> {
  const [firstId, ...rest] = (await list()).map(({ secretId }) => secretId);
  if (firstId === undefined) throw new RangeError("there is none");
  return [firstId, ...rest];
}

export function textOf({ content }: { readonly content: Uint8Array | null }): string | null {
  return content === null ? null : new TextDecoder().decode(content);
}

/** A text to protect; with the openers of the book, unless a picture is given. */
export function textSecret(title: string, text: string, picture?: OpenerHandle): Parameters<Vault["protect"]>[0] {
  return {
    title,
    tags: ["paper"],
    ...textContent(text),
    protection: picture === undefined ? { kind: "openers", openers: [] } : { kind: "picture", picture, name: "Lake" },
  };
}

export function textContent(text: string): {
  readonly contentKind: "text";
  readonly name: string;
  readonly mime: string;
  readonly content: Blob;
} {
  return { contentKind: "text", name: "secret.txt", mime: "text/plain", content: new Blob([text]) };
}

/** An id that nothing has. */
export const unknownSecretId = "019a9e2c-0000-7abc-8def-000000000000";
