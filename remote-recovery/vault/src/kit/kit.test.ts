import "fake-indexeddb/auto";

import { fromBase64url, maxKitBytes, toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { createKit } from "../operations/create-kit.ts";
import { protect } from "../operations/protect.ts";
import { utf8, type Bytes } from "../seal/bytes.ts";
import { kitFile } from "../testing/kit-files.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";

import { ageCommands } from "./commands.ts";
import { fromBase64, kitElementId, serializeKit, computeKitTextDigest, toBase64, type Kit } from "./kit-document.ts";
import { fillTemplate, parseKitFile } from "./kit-file.ts";
import { openEmbeddedContent, openKit, type OpenedKit } from "./open-kit.ts";
import { toErrorTextKey } from "./page/error-text-key.ts";
import { texts } from "./page/texts.ts";
import { toSingleLine } from "./single-line.ts";

/** A kit of three secrets. */
let originalKit: Kit;
let file: Bytes;
let world: World;
beforeAll(async () => {
  world = createWorld();
  const vault = await world.open();
  const { secretId } = await protect(vault, textSecret("First", makePicture("market", "correct horse")), {});
  const fileSecret = await protect(vault, { ...textSecret("A file"), contentKind: "file", name: "bytes.bin" }, {});
  const thirdSecret = await protect(
    vault,
    { ...textSecret("</script><img src=x onerror=alert(1)>"), content: new Blob(["<script>alert(1)</script>"]) },
    {},
  );
  const rejectLargeContent = () => Promise.reject(new Error("expected a small content"));
  const deps = {
    range: rejectLargeContent,
    openSink: rejectLargeContent,
    retryPolicy: { wait: () => Promise.resolve() },
    loadReleaseFile: kitFile,
  };
  const createdKit = await createKit(
    vault,
    deps,
    [secretId, fileSecret.secretId, thirdSecret.secretId],
    makePicture("market", "correct horse"),
    { note: "In the drawer" },
  );
  file = new Uint8Array(await createdKit.file.arrayBuffer());
  originalKit = parseKitFile(file);
});

const openWithMarket = (kit: Kit): Promise<OpenedKit> =>
  openKit(world.engine, kit, makePicture("market", "correct horse"));
const errorWithCode = (expected: string, details: object = {}): unknown =>
  expect.objectContaining({ code: expected, details: expect.objectContaining(details) });
const toKitFile = async (kit: Kit): Promise<Bytes> =>
  fillTemplate(new TextDecoder().decode(await kitFile("kit")), kit, null);
/** Edits the kit and gives it a matching digest. */
const editKit = async (edit: (kit: Kit) => Kit): Promise<Kit> => parseKitFile(await toKitFile(edit(originalKit)));
const flipBit = (bytes: Uint8Array, offset: number): Bytes =>
  Uint8Array.from(bytes, (byte, index) => (index === offset ? byte ^ 1 : byte));
const editFirstSecret = (
  { secrets: [firstSecret, ...otherSecrets] }: Kit,
  edit: (secret: Kit["secrets"][number]) => Kit["secrets"][number],
): Kit["secrets"] => {
  if (firstSecret === undefined) throw new Error("expected a kit with secrets");
  return [edit(firstSecret), ...otherSecrets];
};

function catchError(callback: () => unknown): unknown {
  try {
    callback();
    return null;
  } catch (error) {
    return error;
  }
}

describe("a kit that the portal made", () => {
  it("detects every changed byte of its data, and ignores all others", () => {
    const start = new TextDecoder("latin1").decode(file).indexOf('{"author_keys"');
    const length = serializeKit(originalKit).length;
    // Every byte outside the element and near its ends, and a sample of its bytes.
    const positions = Array.from({ length: file.length }, (_, index) => index).filter(
      (offset) => offset < start + 40 || offset > start + length - 40 || offset % 97 === 0,
    );
    const outcomes = positions.map((offset) => {
      try {
        expect(parseKitFile(flipBit(file, offset))).toEqual(originalKit);
        return "same";
      } catch (error) {
        expect(error).toEqual(errorWithCode("validation_error"));
        return "refused";
      }
    });
    const within = positions
      .map((offset, index) => [offset >= start && offset < start + length, outcomes[index]] as const)
      .filter(([inside]) => inside);
    expect(new Set(within.map(([, outcome]) => outcome))).toEqual(new Set(["refused"]));
    expect(new Set(outcomes)).toEqual(new Set(["same", "refused"]));
  });

  it.each<[string, (kit: Kit) => Kit]>([
    [
      "ticket",
      (kit) => ({
        ...kit,
        secrets: editFirstSecret(kit, (secret) => ({
          ...secret,
          ticket: toBase64(flipBit(fromBase64(secret.ticket), 2_000)),
        })),
      }),
    ],
    ["id", (kit) => ({ ...kit, secrets: editFirstSecret(kit, (secret) => ({ ...secret, secret_id: kit.user_id })) })],
    ["version", (kit) => ({ ...kit, secrets: editFirstSecret(kit, (secret) => ({ ...secret, version: 7 })) })],
    [
      "ticket of another secret",
      (kit) => ({
        ...kit,
        secrets: editFirstSecret(kit, (secret) => ({ ...secret, ticket: kit.secrets[1]?.ticket ?? "" })),
      }),
    ],
  ])("returns null for a secret with a changed %s, and opens the others", async (_, edit) => {
    const { secrets } = await openWithMarket(await editKit(edit));
    expect(secrets.map((secret) => secret?.ticket.title)).toEqual([
      undefined,
      "A file",
      "</script><img src=x onerror=alert(1)>",
    ]);
  });

  it("refuses a changed content, and the content of another secret", async () => {
    for (const edit of [
      (content: string) => toBase64(flipBit(fromBase64(content), fromBase64(content).length - 1)),
      () => originalKit.secrets[1]?.content ?? "",
    ]) {
      const {
        secrets: [secret],
      } = await openWithMarket(
        await editKit((kit) => ({
          ...kit,
          secrets: editFirstSecret(kit, (original) => ({ ...original, content: edit(original.content ?? "") })),
        })),
      );
      if (secret == null) throw new Error("expected an intact ticket");
      await expect(openEmbeddedContent(secret)).rejects.toEqual(errorWithCode("decryption_failed"));
    }
  });

  it("verifies no author without their author key", async () => {
    const { secrets } = await openWithMarket(
      await editKit((kit) => ({ ...kit, author_keys: [toBase64url(new Uint8Array(32).fill(9))] })),
    );
    expect(secrets.map((secret) => secret?.signatureStatus)).toEqual(["not_verified", "not_verified", "not_verified"]);
  });

  it.each([
    ["its version", 4, "decryption_failed"],
    ["its salt", 25, "decryption_failed"],
    ["its wrapped root", 420, "decryption_failed"],
  ])("refuses a helper with a flipped bit in %s", async (_, offset, expected) => {
    const kit = await editKit(({ image, ...rest }) => ({
      ...rest,
      image: { ...image, helper: toBase64url(flipBit(fromBase64url(image.helper), offset)) },
    }));
    await expect(openWithMarket(kit)).rejects.toEqual(errorWithCode(expected));
  });
});

describe("parseKitFile", () => {
  const makeKitHtml = (text: string, digest = computeKitTextDigest(text)): Uint8Array =>
    utf8(
      `<title>Kit</title>\n<script type="application/json" id="${kitElementId}" data-sha256="${digest}">\n${text}\n</script>\n`,
    );
  const makeEditedKitHtml = (edit: (text: string) => string) => () => makeKitHtml(edit(serializeKit(originalKit)));

  it.each<[string, () => Uint8Array, string]>([
    ["an empty file", () => new Uint8Array(), "not_a_kit"],
    ["a page", () => utf8("<!doctype html><title>No kit</title>"), "not_a_kit"],
    ["a picture", () => Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), "not_a_kit"],
    [
      "a file with two kits",
      () => utf8(new TextDecoder().decode(makeKitHtml(serializeKit(originalKit))).repeat(2)),
      "not_a_kit",
    ],
    ["another digest", () => makeKitHtml(serializeKit(originalKit), "0".repeat(64)), "damaged"],
    ["a cut file", () => file.slice(0, -200), "not_a_kit"],
    ["a member too many", makeEditedKitHtml((text) => text.replace('"kind"', '"extra":1,"kind"')), "not_a_kit"],
    ["other spacing", makeEditedKitHtml((text) => text.replace('"v":1', '"v": 1')), "not_a_kit"],
    ["a raw <", makeEditedKitHtml((text) => text.replace('"note":"', '"note":"<')), "not_a_kit"],
    ["a later format", makeEditedKitHtml((text) => text.replace('"v":1', '"v":2')), "newer"],
    ["a ticket that is no base64", makeEditedKitHtml((text) => text.replace('"ticket":"', '"ticket":"!')), "not_a_kit"],
    ["no secret", makeEditedKitHtml((text) => text.replace(/"secrets":\[.*\]/, '"secrets":[]')), "not_a_kit"],
    [
      "the same secret twice",
      () => makeKitHtml(serializeKit({ ...originalKit, secrets: [...originalKit.secrets, ...originalKit.secrets] })),
      "not_a_kit",
    ],
    [
      "a helper of another size",
      makeEditedKitHtml((text) => text.replace('"helper":"', '"helper":"AAAA')),
      "not_a_kit",
    ],
    ["a huge file", () => new Uint8Array(maxKitBytes + 1), "too_large"],
  ])("refuses %s", (_, bytes, reason) => {
    expect(catchError(() => parseKitFile(bytes()))).toEqual(errorWithCode("validation_error", { reason }));
  });

  it("keeps the note as text, whatever it contains", async () => {
    const note = "</script><script>alert(1)</script><!-- \u2028 ' \" &amp; --> place-of-the-kit";
    const html = new TextDecoder().decode(await toKitFile({ ...originalKit, note }));
    expect(html.match(/<\/?script/g)).toHaveLength(2);
    expect(parseKitFile(utf8(html)).note).toBe(note);
  });
});

describe("toSingleLine", () => {
  it("leaves no control characters for a terminal", () => {
    expect(toSingleLine("\u001b]0;x\u0007Wallet\r\n\u202e!")).toBe("]0;x Wallet   !");
  });
});

describe("the page of a kit", () => {
  it("has every text in both languages, with the same placeholders", () => {
    const valuesOf = (text: string) => (text.match(/\{\{\w+\}\}/g) ?? []).toSorted();
    for (const [key, english] of Object.entries(texts.en))
      expect([key, valuesOf(texts.es[key as keyof typeof texts.es])]).toEqual([key, valuesOf(english)]);
  });

  it("has a text for each error of opening", () => {
    expect(toErrorTextKey(new PortalError("not_this_picture"))).toBe("error_not_this_picture");
    expect(toErrorTextKey(new PortalError("validation_error", { details: { reason: "newer" } }))).toBe("error_newer");
    expect(toErrorTextKey(new PortalError("unknown"))).toBe("error_unknown");
  });

  it("shows commands that find the line of the kit", () => {
    expect(ageCommands).toContain(`grep '^${serializeKit(originalKit).slice(0, 14)}'`);
  });
});
