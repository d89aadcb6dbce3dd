import { languages, type Channel, type ChannelMembers, type RecoveryImage } from "@relicario/shared/contract";
import { errorCodes, type ErrorCode } from "@relicario/shared/errors";
import type { SearchHint as EngineSearchHint } from "@relicario/engine";
import { z } from "zod";

import { OpenedId, OpenerId } from "./protocol.ts";

/**
 * [Note: Elements of the vault] An element is a visible frame of the vault's origin, in which a
 * person presents or creates a way to open, or sees an opened content. What they choose, type and
 * see stays in that origin:
 *
 * 1. Page: creates the frame `/element`, and serves `elementPage` to it over a channel of
 *    `postMessage`.
 * 2. Element: finds the controller among the page's other frames, gets a port from it
 *    (host/src/vault-origin), and calls `elementPage.start`, which returns the settings.
 * 3. Element: after each change gives the input to the controller (`openers.hold`) under an id, and
 *    tells the page the id and the state, never a value. Input that replaces another keeps its id,
 *    and the page is told only a changed state, so that it cannot count letters.
 * 4. Page: passes the id to the vault's operations inside an `OpenerHandle`. When it releases the
 *    id, the element clears its fields.
 *    An opened content goes the other way: the page names its id, and the element reads it from the
 *    controller (`contents.read`). It clears itself when the content is disposed of.
 * 5. Element: asks for a lock that the controller holds until it ends. Getting it means that the
 *    controller and all held input are gone: the element loads again, which clears it, and starts
 *    at 1.
 */
const part = z.number().min(0).max(1);

/** Where in a picture to search, as the engine takes it. */
export const SearchHint = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("screenshot") }),
  z.strictObject({ kind: z.literal("frame"), left: part, right: part, top: part, bottom: part }),
]) satisfies z.ZodType<EngineSearchHint>;
export type SearchHint = z.infer<typeof SearchHint>;

/** What an element asks for. */
export const ElementField = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("picture"),
    purpose: z.enum(["choose", "show", "share"]),
    pictureOnly: z.boolean(),
    /** Whether incomplete input is held too, so that another element can continue it. */
    keepsDraft: z.boolean(),
    /** Offers a search inside the picture; with the place that was searched last. */
    search: z.strictObject({ previous: SearchHint.nullable() }).nullable(),
  }),
  z.strictObject({ kind: z.literal("new_passphrase") }),
  z.strictObject({ kind: z.literal("new_passkey") }),
  z.strictObject({ kind: z.literal("new_recovery_code") }),
  /** Asks whether a mark is the person's, for an operation that waits for the answer. */
  z.strictObject({ kind: z.literal("mark_question"), questionId: z.uuid() }),
  /** Scans the QR code of a new device, whose words the page also takes by hand. */
  z.strictObject({ kind: z.literal("device_code_scan") }),
  /** Shows an opened content; `title` is the heading on paper of one that was sealed without. */
  z.strictObject({ kind: z.literal("opened"), openedId: OpenedId, title: z.string().max(1_000) }),
]);
export type ElementField = z.infer<typeof ElementField>;

/** From the page. */
export const ElementSettings = z.strictObject({
  language: z.enum(languages),
  theme: z.enum(["light", "dark"]),
  disabled: z.boolean(),
  /** For a new passkey, and for the print of a recovery code. */
  userName: z.string().max(1_000),
  /** Of the vault that judges pictures; null for a visitor. */
  vaultId: z.int().min(1).nullable(),
  /** Input of an earlier element to continue. */
  heldId: OpenerId.nullable(),
  field: ElementField,
});
export type ElementSettings = z.infer<typeof ElementSettings>;

const ErrorCodeSchema = z.enum(errorCodes);

const KnownImage = z.strictObject({
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
}) satisfies z.ZodType<RecoveryImage>;

/** To the page, after each change of it. */
export const ElementState = z.strictObject({
  heldId: OpenerId.nullable(),
  /** Whether the held input can be used. */
  ready: z.boolean(),
  kind: z.enum(["picture", "recovery_code", "passkey", "new_passphrase"]).nullable(),
  /** Why a picture is not ready; null without input that could be completed. */
  problem: z.enum(["image_missing", "passphrase_missing", "image_unsaved"]).nullable(),
  /** Whether a picture was judged. */
  examined: z.boolean(),
  /** The recovery image that the picture is. */
  known: KnownImage.nullable(),
  /** Whether the picture was taken with the camera and then saved. */
  captureSaved: z.boolean(),
  /** Cloud drives from which pictures were read or to which they were saved. */
  drivesWithPicture: z.array(z.enum(["google", "onedrive"])).max(2),
  /** Why nothing was created. */
  error: ErrorCodeSchema.nullable(),
});
export type ElementState = z.infer<typeof ElementState>;

/** Words of a device's code: the only value that an element gives to the page. */
export const DeviceCode = z
  .string()
  .max(200)
  .regex(/^\p{L}+(?: \p{L}+){11}$/u);

export const emptyElementState: ElementState = Object.freeze({
  heldId: null,
  ready: false,
  kind: null,
  problem: "image_missing",
  examined: false,
  known: null,
  captureSaved: false,
  drivesWithPicture: [],
  error: null,
});

/** In CSS pixels. */
const Length = z.number().min(0).max(20_000);

/** Place of a target of a tour, in CSS pixels from the element's corner. */
const TourPlace = z.strictObject({ left: Length, top: Length, width: Length, height: Length });
export type TourPlace = z.infer<typeof TourPlace>;

/** What the page does for its element. */
export interface ElementPage {
  readonly getSettings: () => ElementSettings;
  readonly onChange: (state: ElementState) => void;
  readonly onSearch: (heldId: string, place: SearchHint) => void;
  /** `takePlace` is where a picture can be taken; null without a camera. */
  readonly onResize: (height: number, takePlace: TourPlace | null) => void;
  /** The person pressed Enter in a field. */
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly onDeviceCode: (words: string) => void;
  /** The person copied a content. Resolves when the clipboard was cleared. */
  readonly onCopied: () => Promise<void>;
  readonly onFailed: (code: ErrorCode) => void;
}

/** Serves the page's side; every argument is parsed. */
export function serveElementPage(channel: Channel, page: ElementPage): void {
  channel.serve("elementPage", {
    start: () => page.getSettings(),
    change: (state: unknown) => {
      page.onChange(ElementState.parse(state));
    },
    search: (heldId: unknown, place: unknown) => {
      page.onSearch(OpenerId.parse(heldId), SearchHint.parse(place));
    },
    resize: (height: unknown, takePlace: unknown) => {
      page.onResize(Length.parse(height), TourPlace.nullable().parse(takePlace));
    },
    submit: () => {
      page.onSubmit();
    },
    cancel: () => {
      page.onCancel();
    },
    deviceCode: (words: unknown) => {
      page.onDeviceCode(DeviceCode.parse(words));
    },
    copied: () => page.onCopied(),
    fail: (code: unknown) => {
      page.onFailed(ErrorCodeSchema.parse(code));
    },
  } satisfies ChannelMembers);
}
