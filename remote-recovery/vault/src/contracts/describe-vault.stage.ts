import type {
  DeviceKind,
  OpenerKind,
  ShownImage,
  Standing,
  StartAnewStatus,
  Vault,
  Visitor,
} from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";

/**
 * An account as an assertion finds it, in the words of the fake vault's settings. What is left out
 * is not there.
 */
export interface Scene {
  /** Openers of all that is protected; "garden" where there are secrets and no images. */
  readonly images?: readonly SceneImage[];
  /** Oldest first. */
  readonly secrets?: readonly SceneSecret[];
  readonly keys?: readonly SceneKey[];
  /** Uploads that an earlier page of this device left. */
  readonly uploads?: readonly SceneUpload[];
  /** Everybody else of the key directory. */
  readonly people?: readonly {
    readonly userName: string;
    readonly standing?: Standing;
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
  readonly asked?: readonly {
    readonly title: string;
    readonly answer?: { readonly content: string; readonly note: string };
  }[];
  readonly startAnew?: Extract<StartAnewStatus["state"], "waiting" | "ready">;
  /** Another device of the account that waits to be admitted. */
  readonly asking?: { readonly name: string };
  /** True unless told otherwise. */
  readonly unlocked?: boolean;
  /** Its own unless told otherwise, on a locked device null. */
  readonly device?: DeviceKind | null;
}

interface SceneImage {
  readonly name: string;
  readonly picture: string;
  readonly passphrase?: string;
}

interface SceneSecret {
  readonly title: string;
  readonly content: string;
  readonly former?: readonly string[];
  readonly deleted?: boolean;
  /** Too large to be held in memory; its content is then as of {@link Stage.largeText}. */
  readonly large?: boolean;
}

interface SceneKey {
  readonly kind: Exclude<OpenerKind, "image">;
  readonly name: string;
  readonly secret: string;
  readonly covers?: boolean;
}

interface SceneUpload {
  readonly title: string;
  readonly content: string;
  readonly name: string;
}

/** A vault, and what is around it. */
export interface Stage {
  readonly vault: Omit<Vault, "PictureField">;
  readonly shown: (picture: string, passphrase?: string) => ShownImage;
  /** A recovery code by its words, a passkey by a digit. */
  readonly shownKey: (kind: SceneKey["kind"], secret: string) => ShownImage;
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

export type MakeStage = (scene: Scene) => Promise<Stage>;

/** What a link leads to. */
export interface LinkScene {
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
    readonly askedBy: string;
    readonly maxSize: number;
  };
}

/** A page opened by a link. */
export interface LinkStage {
  readonly visitor: Omit<Visitor, "PictureField">;
  /** Of the share or the request. */
  readonly id: string;
  readonly shown: Stage["shown"];
  /** Whoever made the link ends it. */
  readonly endLink: () => Promise<void>;
}

export type MakeLinkStage = (scene: LinkScene) => Promise<LinkStage>;

/** More than goes in one call. */
export const largeText = "a frame of a film\n".repeat(20_000);

export function code(expected: ErrorCode, details?: Readonly<Record<string, unknown>>): unknown {
  return expect.objectContaining(
    details === undefined
      ? { code: expected }
      : { code: expected, details: expect.objectContaining(details) as unknown },
  );
}

export function first<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new RangeError("there is none");
  return row;
}

/** Ids of all secrets, oldest first. */
export async function idsOf({ list }: Pick<Vault, "list">): Promise<[string, ...string[]]> {
  const [one, ...rest] = (await list()).map(({ secretId }) => secretId);
  if (one === undefined) throw new RangeError("there is none");
  return [one, ...rest];
}

export function textOf({ content }: { readonly content: Uint8Array | null }): string | null {
  return content === null ? null : new TextDecoder().decode(content);
}

/** A text to protect; with the openers of the book, unless a picture is given. */
export function textSecret(title: string, text: string, picture?: ShownImage): Parameters<Vault["protect"]>[0] {
  return {
    title,
    tags: ["paper"],
    ...textContent(text),
    protection:
      picture === undefined ? { kind: "openers", openers: [] } : { kind: "picture", shown: picture, name: "Lake" },
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
export const nowhere = "019a9e2c-0000-7abc-8def-000000000000";
