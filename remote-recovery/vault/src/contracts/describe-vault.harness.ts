import type {
  DeviceKind,
  OpenedContent,
  OpenerKind,
  OpenerHandle,
  RecoveryCode,
  TrustLevel,
  AccountResetStatus,
  Vault,
  Visitor,
} from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

export { decodeContent } from "../testing/decode-content.ts";

/** State of an account at the start of a test; omitted members are absent. */
export interface Scenario {
  /** Each image opens every secret. Default: `garden` if there are secrets. */
  readonly images?: readonly ScenarioImage[];
  /** Oldest first. */
  readonly secrets?: readonly ScenarioSecret[];
  readonly keys?: readonly ScenarioKey[];
  /** Uploads that an earlier page of this device left unfinished. */
  readonly uploads?: readonly ScenarioUpload[];
  /** People in the key directory. */
  readonly people?: readonly {
    readonly userName: string;
    readonly trust?: TrustLevel;
    readonly blocked?: boolean;
    readonly formerName?: string;
  }[];
  /** Shares that others sent to this account. `from` is a user name. */
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
  /** A new device that waits to be admitted. */
  readonly requestingDevice?: { readonly name: string };
  /** Default: true. */
  readonly unlocked?: boolean;
  /** Default: `own`; `null` on a locked device. */
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
  /** Whether the content is too large for memory; the content is then {@link largeText}. */
  readonly large?: boolean;
}

interface ScenarioKey {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  readonly credential: string;
  readonly opensExisting?: boolean;
}

interface ScenarioUpload {
  readonly title: string;
  readonly content: string;
  readonly name: string;
}

/** Members of the contract whose opened contents have neither a handle nor a view. */
type WithoutViews<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends (
    ...args: infer Arguments
  ) => Promise<infer Opened extends OpenedContent>
    ? (...args: Arguments) => Promise<Omit<Opened, "handle" | "View">>
    : Members[Name];
};

interface HarnessVault extends WithoutViews<
  Omit<Vault, "PictureField" | "protectOpened" | "openText" | "received" | "requests">
> {
  readonly received: WithoutViews<Vault["received"]>;
  readonly requests: WithoutViews<Vault["requests"]>;
}

/** A vault, and functions that act as the account's other devices and as other people. */
export interface Harness {
  readonly vault: HarnessVault & { readonly generateRecoveryCode: () => Promise<RecoveryCode> };
  readonly makeHandle: (picture: string, passphrase?: string) => OpenerHandle;
  /**
   * `credential` is the words of a recovery code, or the byte that fills a passkey's PRF output.
   */
  readonly makeKeyHandle: (kind: ScenarioKey["kind"], credential: string) => OpenerHandle;
  readonly saveElsewhere: (
    secretId: string,
    change: { readonly title?: string; readonly content?: string },
  ) => Promise<void>;
  readonly answerElsewhere: (requestId: string, link: string) => Promise<void>;
  /** Code of the requesting device. */
  readonly requestingDeviceCode: string;
  /** Admits this device from another one, by the words of its code. */
  readonly admitElsewhere: (words: readonly string[]) => Promise<void>;
}

export type CreateHarness = (scenario: Scenario) => Promise<Harness>;

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

export interface LinkHarness {
  readonly visitor: WithoutViews<Omit<Visitor, "PictureField">>;
  /** Id of the share or the request. */
  readonly id: string;
  readonly makeHandle: Harness["makeHandle"];
  /** Revokes the share, or drops the request. */
  readonly endLink: () => Promise<void>;
}

export type CreateLinkHarness = (scenario: LinkScenario) => Promise<LinkHarness>;

/** A text that is too large for one call. */
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
  if (row === undefined) throw new RangeError("the list needs at least one row");
  return row;
}

/** Ids of the secrets, oldest first. */
export async function listSecretIds({ list }: Pick<Vault, "list">): Promise<[string, ...string[]]> {
  const [firstId, ...rest] = (await list()).map(({ secretId }) => secretId);
  if (firstId === undefined) throw new RangeError("the list needs at least one row");
  return [firstId, ...rest];
}

/** Protects with `picture`; without one, with the openers of the book. */
export function textSecret(title: string, text: string, picture?: OpenerHandle): Parameters<Vault["protect"]>[0] {
  return {
    title,
    tags: ["paper"],
    ...textContent(text),
    protection: picture === undefined ? { kind: "openers", openerIds: [] } : { kind: "picture", picture, name: "Lake" },
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

export const unknownSecretId = "019a9e2c-0000-7abc-8def-000000000000";
