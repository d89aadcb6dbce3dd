import { stringifyRecord, type RecordField } from "@relicario/shared/api";
import { expectAccessible, renderApp } from "@relicario/shared/testing";
import { act, fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { RevealedContent } from "./RevealedContent.tsx";
import { revealMilliseconds } from "./useReveal.ts";

const login: readonly RecordField[] = [
  { label: "User name", value: "ana", kind: "text" },
  { label: "Password", value: "p<b>w</b>", kind: "secret" },
  { label: "Website", value: "https://mail.example/", kind: "address" },
  { label: "Trap", value: "javascript:alert(1)", kind: "address" },
  { label: "Since", value: "2024-02-29", kind: "date" },
  { label: "Note", value: "one\ntwo", kind: "note" },
];
const renderContent = (text: string, settings: Parameters<typeof renderApp>[1] = {}) => {
  const content = Uint8Array.from(new TextEncoder().encode(text));
  return renderApp(
    <main>
      <RevealedContent
        title="Mail"
        content={{
          contentKind: "record",
          name: "record.json",
          mime: "application/json",
          size: content.length,
          title: "Mail",
          content,
          hasAgeFile: false,
        }}
        save={() => Promise.resolve(new Blob([content]))}
      />
    </main>,
    settings,
  );
};
const getField = (name: string) => within(screen.getByRole("group", { name }));
const pressCopy = (button: HTMLElement) =>
  act(async () => {
    fireEvent.click(button);
    await Promise.resolve();
  });
let copied: string[] = [];

beforeEach(() => {
  copied = [];
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: {
      writeText: (text: string) => {
        copied.push(text);
        return Promise.resolve();
      },
    },
  });
});
afterEach(() => {
  jest.useRealTimers();
});

describe("an opened record", () => {
  it.each([
    ["en", "light"],
    ["es", "dark"],
  ] as const)("shows fields that are not secret, and hides each of the others (%s, %s)", async (language, theme) => {
    await renderContent(stringifyRecord(login), { language, theme });
    expect(screen.getByText("ana")).toBeVisible();
    expect(screen.getByRole("link", { name: "https://mail.example/" })).toHaveAttribute("rel", "noopener noreferrer");
    expect(screen.getByText("javascript:alert(1)")).not.toHaveAttribute("href");
    expect(screen.queryByText("p<b>w</b>")).not.toBeInTheDocument();
    expect(screen.queryByText(/one/)).not.toBeInTheDocument();
    await expectAccessible();
  });

  it("reveals only the chosen field, as text, and hides it after a minute", async () => {
    await renderContent(stringifyRecord(login));
    jest.useFakeTimers();
    fireEvent.click(getField("Password").getByRole("button", { name: "Show" }));
    expect(screen.getByText("p<b>w</b>")).toBeVisible();
    expect(screen.queryByText(/one/)).not.toBeInTheDocument();
    await act(() => jest.advanceTimersByTimeAsync(revealMilliseconds));
    expect(screen.queryByText("p<b>w</b>")).not.toBeInTheDocument();
  });

  it("keeps fields from a page translator, but not buttons and hints", async () => {
    const code = { label: "Code", value: "JBSWY3DP", kind: "one_time_code" } as const;
    await renderContent(stringifyRecord([...login, code]));
    for (const button of screen.getAllByRole("button", { name: "Show" })) await userEvent.click(button);
    const shownTexts = [await screen.findByText(/^\d{3} \d{3}$/), screen.getByText(/^one/), screen.getByText(/2024/)];
    const plainTexts = ["ana", "p<b>w</b>", "https://mail.example/", "javascript:alert(1)"];
    const labels = [...login, code].map(({ label }) => screen.getByText(label));
    for (const element of [...shownTexts, ...plainTexts.map((text) => screen.getByText(text)), ...labels])
      expect(element.closest('[translate="no"]')).not.toBeNull();
    for (const element of [...screen.getAllByRole("button"), screen.getByText(/^It is hidden again after 60 seconds/)])
      expect(element.closest('[translate="no"]')).toBeNull();
  });

  it("copies only the chosen field, and clears the clipboard after a secret", async () => {
    await renderContent(stringifyRecord(login));
    await pressCopy(getField("Password").getByRole("button", { name: "Copy" }));
    expect(copied).toEqual(["p<b>w</b>"]);
    expect(await getField("Password").findByText(/Clipboard clears/)).toBeVisible();
  });

  it.each([
    ["another version", '{"v":2,"fields":[]}'],
    ["not JSON", "User name: ana"],
  ])("is reported as unreadable, and can be shown as stored: %s", async (_name, text) => {
    await renderContent(text);
    expect(screen.getByText("This record cannot be read")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByLabelText("Content of the secret")).toHaveTextContent(text);
    await expectAccessible();
  });
});

describe("a one-time code", () => {
  const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"; // the seed in RFC 6238
  const renderCode = async (value: string, time = 0) => {
    jest.useFakeTimers({ now: time });
    await renderContent(stringifyRecord([{ label: "Code", value, kind: "one_time_code" }]));
    await act(() => jest.advanceTimersByTimeAsync(0));
  };
  const flushCode = async () => {
    for (let turn = 0; turn < 20; turn++) await act(() => jest.advanceTimersByTimeAsync(0)); // WebCrypto takes several
    await screen.findByRole("button", { name: "Copy the code" });
  };

  it("is hidden, then shown with its remaining time, and replaced when that ends", async () => {
    await renderCode(seed, 59_000);
    await flushCode();
    expect(screen.queryByText("287 082")).not.toBeInTheDocument();
    fireEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText("287 082")).toBeVisible();
    expect(screen.getByText("1 second left")).toBeVisible();
    await act(() => jest.advanceTimersByTimeAsync(1_000));
    await flushCode();
    expect(await screen.findByText("359 152")).toBeVisible();
    expect(screen.getByText("30 seconds left")).toBeVisible();
  });

  it("is copied without being shown", async () => {
    await renderCode(seed, 59_000);
    await flushCode();
    await pressCopy(screen.getByRole("button", { name: "Copy the code" }));
    expect(copied).toEqual(["287082"]);
  });

  it("of a counter steps forward by a button, and shows the stored counter", async () => {
    await renderCode(`otpauth://hotp/x?secret=${seed}&counter=1`);
    await flushCode();
    fireEvent.click(screen.getByRole("button", { name: "Show" }));
    expect(screen.getByText("287 082")).toBeVisible();
    fireEvent.click(screen.getByRole("button", { name: "Next code" }));
    await flushCode();
    expect(await screen.findByText("359 152")).toBeVisible();
    expect(screen.getByText(/^This is code number 2\. The saved counter starts at 1/)).toBeVisible();
  });

  it("that cannot be computed is reported, and its seed can be copied", async () => {
    await renderContent(stringifyRecord([{ label: "Code", value: "not a seed: 1", kind: "one_time_code" }]));
    expect(screen.getByText(/^This portal can't generate codes from this seed/)).toBeVisible();
    await pressCopy(screen.getByRole("button", { name: "Copy" }));
    expect(copied).toEqual(["not a seed: 1"]);
    await expectAccessible();
  });
});
