/**
 * [Note: Microsoft's picker]
 *
 * 1. Page: posts token and configuration to the picker's URL in the popup.
 * 2. Picker: sends `initialize` with our channel id and a port to its opener. Its origin depends on
 *    the account and is not fixed by the protocol: the token only goes to origins listed in the
 *    deployment document.
 * 3. Page: sends `activate` over the port, which carries all further messages.
 * 4. Picker: sends `command`s, each acknowledged: `authenticate` requests the token, `pick` returns
 *    the file and ends, `close` cancels.
 */
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { DriveWindow } from "./drive-window.ts";

export interface PickedItem {
  readonly id: string;
  readonly driveId: string;
  /** Base URL of the API that holds the item. */
  readonly endpoint: string;
}

export interface PickOptions {
  readonly token: string;
  readonly language: string;
  readonly signal: AbortSignal;
  /** Whether the picker may run at this origin. */
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

/**
 * @throws PortalError `cancelled` if the picker was closed without a choice; `bad_answer` for
 *   undocumented messages
 */
export async function pickItem(
  driveWindow: DriveWindow,
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
          source !== driveWindow.getPopup() ||
          !isTrusted(origin) ||
          !initialization.success ||
          initialization.data.channelId !== channelId ||
          port === undefined
        )
          return;
        port.onmessage = (message) => {
          handleCommand(port, message.data);
        };
        port.onmessageerror = () => {
          reject(new PortalError("bad_answer"));
        };
        port.postMessage({ type: "activate" });
      },
      { signal: listenerController.signal },
    );
    const handleCommand = (port: MessagePort, data: unknown) => {
      const message = Command.safeParse(data);
      if (!message.success) return; // notifications need no reply
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
  pickResult.catch(() => undefined); // attached now, because it may reject before it is awaited
  const query = new URLSearchParams({ filePicker: JSON.stringify(configuration), locale: language });
  await driveWindow.postForm(`${pickerUrl}?${query.toString()}`, { access_token: token });
  try {
    return await pickResult;
  } finally {
    listenerController.abort();
  }
}
