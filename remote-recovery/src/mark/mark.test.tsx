import { PortalError } from "@relicario/shared/errors";
import { colors } from "@relicario/shared/ui";
import { expectAccessible, renderApp, wholeText } from "@relicario/shared/testing";
import type { NotedMark } from "@relicario/vault/mark";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { MarkQuestionElement } from "../element-views/MarkQuestionElement.tsx";
import { MarkNotice } from "./MarkNotice.tsx";
import { swatches } from "./swatches.ts";
import { VaultMark } from "./VaultMark.tsx";

const mark: NotedMark = { words: ["mercy", "rare", "item"], colour: "teal", note: null };

async function renderMark(shown: NotedMark | null, language: "en" | "es" = "en") {
  const calls: string[] = [];
  const { container } = await renderApp(
    <main>
      <MarkNotice mark={shown} onAcknowledge={() => calls.push("acknowledge")} />
    </main>,
    { language },
  );
  await expectAccessible(container);
  return { calls };
}

describe("MarkNotice", () => {
  it("shows the words, and says the colour to those who do not see it", async () => {
    await renderMark(mark);
    expect(await screen.findByRole("img", { name: "Your mark: mercy rare item, on teal" })).toBeVisible();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("shows the words of the reader's list", async () => {
    await renderMark(mark, "es");
    expect(await screen.findByRole("img", { name: /^Tu marca: \S+ \S+ \S+, en turquesa$/ })).toBeVisible();
  });

  it("says that a device does not know it yet", async () => {
    await renderMark(null);
    expect(await screen.findByText(/does not know your mark yet/)).toBeVisible();
  });

  it.each([
    ["first", "Three words and a colour"],
    ["replaced", "Your keys were replaced"],
  ] as const)("explains itself once: %s", async (note, sentence) => {
    const { calls } = await renderMark({ ...mark, note });
    expect(await screen.findByText(wholeText(new RegExp(sentence)))).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "I will look for it" }));
    expect(calls).toEqual(["acknowledge"]);
  });

  it.each([
    [false, "Compare these words"],
    [true, "An account without a passphrase was found"],
  ])(
    "is asked about before an unknown account is adopted; opened without a passphrase: %p",
    async (isPlain, sentence) => {
      for (const [button, isMine] of [
        ["Yes, it is mine", true],
        ["No, it is not mine", false],
      ] as const) {
        const calls: unknown[] = [];
        const { container, unmount } = await renderApp(
          <main>
            <MarkQuestionElement
              questionId="q"
              vault={{
                getMarkQuestion: () => Promise.resolve({ mark: { words: mark.words, colour: "teal" }, isPlain }),
                answerMark: (...answer) => {
                  calls.push(answer);
                  return Promise.resolve();
                },
              }}
              onClose={() => calls.push("close")}
            />
          </main>,
        );
        expect(await screen.findByRole("img", { name: "Your mark: mercy rare item, on teal" })).toBeVisible();
        expect(screen.getByText(wholeText(new RegExp(sentence)))).toBeVisible();
        await expectAccessible(container);
        await userEvent.click(screen.getByRole("button", { name: button }));
        expect(calls).toEqual([["q", isMine], "close"]);
        unmount();
      }
    },
  );

  it.each([
    ["with the mark once it is read", true],
    ["without the mark if it can't be read", false],
  ])("shows a prompt %s, and nothing before", async (_, isReadable) => {
    let endReading = (): void => undefined;
    const reading = new Promise<NotedMark>((resolve, reject) => {
      endReading = () => {
        if (isReadable) resolve(mark);
        else reject(new PortalError("vault_unavailable"));
      };
    });
    await renderApp(
      <main>
        <VaultMark mark={{ read: () => reading, acknowledge: () => Promise.resolve() }}>
          <p>the prompt</p>
        </VaultMark>
      </main>,
    );
    expect(screen.getByRole("main")).toBeEmptyDOMElement();
    endReading();
    expect(await screen.findByText("the prompt")).toBeVisible();
    expect(screen.queryAllByRole("img", { name: /^Your mark/ })).toHaveLength(isReadable ? 1 : 0);
  });

  it("has colours that stand out on the surfaces of both themes", () => {
    const luminance = (hex: string): number =>
      [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
        const channel = Number.parseInt(hex.slice(1 + 2 * index, 3 + 2 * index), 16) / 255;
        return sum + weight * (channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
      }, 0);
    for (const swatch of Object.values(swatches))
      for (const surface of [
        colors.light.surface,
        colors.light.surfaceSunken,
        colors.dark.surface,
        colors.dark.surfaceRaised,
      ]) {
        const [brighter = 0, darker = 0] = [luminance(swatch), luminance(surface)].sort((a, b) => b - a);
        expect([swatch, surface, (brighter + 0.05) / (darker + 0.05) >= 3]).toEqual([swatch, surface, true]);
      }
  });
});
