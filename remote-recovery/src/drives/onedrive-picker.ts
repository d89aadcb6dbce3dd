/**
 * [Note: Microsoft's picker]
 *
 * 1. Page: posts token and configuration to the picker's address, in the window.
 * 2. Picker: `initialize` with our channel id to the page that opened it, and a port. It may stand
 *    at another address by then, since that changes with the account; the protocol names none. The
 *    token goes to origins of the deployment document alone.
 * 3. Page: `activate` over the port. From here all goes over the port.
 * 4. Picker: `command`s, each acknowledged: `authenticate` gets the token, `pick` the file ends it,
 *    `close` gives up.
 */
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { DriveWindow } from "./drive-window.ts";

export interface PickedItem {
  readonly id: string;
  readonly driveId: string;
  /** Base address of the calls that know the item. */
  readonly endpoint: string;
}

export interface PickOptions {
  readonly token: string;
  readonly language: string;
  readonly signal: AbortSignal;
  /** Whether the page of an origin may be the picker. */
  readonly isTrusted: (origin: string) => boolean;
}

const Initialize = z.object({ type: z.literal("initialize"), channelId: z.string() });
const Command = z.object({
  type: z.literal("command"),
  id: z.union([z.string(), z.number()]),
  data: z.looseObject({ command: z.string() }),
});
const PickCommand = z.object({
  command: z.literal("pick"),
  items: z.tuple([
    z.object({
      id: z.string().min(1),
      parentReference: z.object({ driveId: z.string().min(1) }),
      "@sharePoint.endpoint": z.url(),
    }),
  ]),
});

/** @throws PortalError `cancelled` when it was left without a choice, `bad_answer` */
export async function pickItem(
  popup: DriveWindow,
  pickerUrl: string,
  { token, language, signal, isTrusted }: PickOptions,
): Promise<PickedItem> {
  const channelId = crypto.randomUUID();
  const configuration = {
    sdk: "8.0",
    entry: { oneDrive: { files: {} } },
    authentication: {},
    messaging: { origin: window.location.origin, channelId },
    localization: { language },
    selection: { mode: "single" },
    typesAndSources: { mode: "files", filters: ["photo"], pivots: { oneDrive: true, recent: true } },
  };
  const listenerController = new AbortController();
  const pickResult = new Promise<PickedItem>((resolve, reject) => {
    signal.addEventListener(
      "abort",
      () => {
        reject(new PortalError("cancelled"));
      },
      { signal: listenerController.signal },
    );
    window.addEventListener(
      "message",
      ({ source, origin, data, ports: [port] }) => {
        const initialization = Initialize.safeParse(data);
        if (
          source !== popup.getPopup() ||
          !isTrusted(origin) ||
          !initialization.success ||
          initialization.data.channelId !== channelId ||
          port === undefined
        )
          return;
        port.onmessage = (message) => {
          handleCommand(port, message.data);
        };
        port.postMessage({ type: "activate" });
      },
      { signal: listenerController.signal },
    );
    const handleCommand = (port: MessagePort, data: unknown) => {
      const message = Command.safeParse(data);
      if (!message.success) return; // notifications
      const { id, data: command } = message.data;
      const reply = (result: Readonly<Record<string, unknown>>) => {
        port.postMessage({ type: "result", id, data: result });
      };
      port.postMessage({ type: "acknowledge", id });
      switch (command.command) {
        case "authenticate":
          reply({ result: "token", token });
          return;
        case "pick": {
          const { data: pick } = PickCommand.safeParse(command);
          reply(
            pick === undefined
              ? { result: "error", error: { code: "unusable", message: "one file, please" } }
              : { result: "success" },
          );
          const item = pick?.items[0];
          if (item === undefined) reject(new PortalError("bad_answer"));
          else resolve({ id: item.id, driveId: item.parentReference.driveId, endpoint: item["@sharePoint.endpoint"] });
          return;
        }
        case "close":
          reject(new PortalError("cancelled"));
          return;
        default:
          reply({ result: "error", error: { code: "unsupportedCommand", message: command.command } });
      }
    };
  });
  pickResult.catch(() => undefined); // may end while the form is still on its way
  const query = new URLSearchParams({ filePicker: JSON.stringify(configuration), locale: language });
  await popup.postForm(`${pickerUrl}?${query.toString()}`, { access_token: token });
  try {
    return await pickResult;
  } finally {
    listenerController.abort();
  }
}
