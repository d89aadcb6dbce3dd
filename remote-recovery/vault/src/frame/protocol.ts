import { autoLockMinutes, keepOpenDurations, keepOpenStatuses, type VaultState } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * [Note: The vault in a frame] The vault runs in a frame of its own origin (controller.ts), the
 * portal's page has a client with the contract's interface (frame-vault.ts), and both call each
 * other over one channel:
 *
 * - `vault` and `visitor`, served by the frame: operations by their path in the contract. An opened
 *   content stays there; the page gets its name, kind and size, and an id by which an element shows
 *   it (element-protocol.ts).
 * - `portal`, served by the host: session token, sign-in, secret part of a link.
 * - `vaultPage`, served by the client: the vault's state and settings as they change, and a place
 *   for the vault's question about the mark.
 *
 * Openers are taken by elements, visible frames of the vault's origin (element-protocol.ts). The
 * controller holds them, and the page has an id of each.
 *
 * Both sides come from one release of recovery, unless another was published between the loading of
 * the page and that of the frame.
 */

/** In the first message. Raise it with each change after which both sides misread each other. */
export const protocolVersion = 4;

/** @throws PortalError `remote_incompatible` */
export function requireSameProtocol(version: unknown): void {
  if (version !== protocolVersion) throw new PortalError("remote_incompatible");
}

const VaultStateSchema = z.discriminatedUnion("status", [
  z.strictObject({ status: z.literal("unknown") }),
  z.strictObject({ status: z.literal("empty") }),
  z.strictObject({ status: z.literal("locked") }),
  z.strictObject({ status: z.literal("unlocked"), device: z.enum(["own", "shared"]).nullable() }),
]) satisfies z.ZodType<VaultState>;

export const VaultSettings = z.strictObject({
  vendorId: z.string(),
  account: z.strictObject({
    userId: z.string(),
    issuer: z.string(),
    subject: z.string(),
    authTime: z.number().optional(),
  }),
});

const Minutes = z.int().min(autoLockMinutes.minimum).max(autoLockMinutes.maximum);

/** What the page mirrors of a vault. */
export const VaultMirror = z.strictObject({
  vaultId: z.int().min(1),
  state: VaultStateSchema,
  minutes: Minutes,
  keepOpen: z.enum(keepOpenDurations),
  keepOpenStatus: z.enum(keepOpenStatuses),
});
export type VaultMirror = z.infer<typeof VaultMirror>;

export const OpenerId = z.uuid();

const CrossedHandle = z.custom<object>((value) => typeof value === "object" && value !== null);
/** Handles among the arguments of a call, each with the id of the opener that it stands for. */
export const ReceivedHandles = z.array(z.tuple([CrossedHandle, OpenerId])).max(32);

export const OpenedId = z.uuid();

export const OperationPath = z.array(z.string()).min(1).max(2);
