import type { RemoteName } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { expectAccessible, findMissingTourTargets, renderApp } from "@relicario/shared/testing";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import { Frame } from "../frame/Frame.tsx";
import { HelpPage } from "../help/HelpPage.tsx";
import { HostContext } from "../context/host-context.ts";
import type { ParsedModule } from "../remotes/remote-module.ts";
import { createFakeHost, mockWindow } from "../testing/fake-host.tsx";
import { celebration } from "./appearance.ts";
import { homeTour, layoutTour, mobileTour } from "./host-tours.ts";
import type { Tour } from "./tour-state.ts";
import { createTourStorage, onboardingKey, toursSeenKey } from "./tour-storage.ts";
import { TourHost } from "./TourHost.tsx";
import { createTours, ToursProvider } from "./tours.ts";

// jsdom draws no canvas, so these tests check the calls to the library.
const fire = jest.fn(() => Promise.resolve());
const reset = jest.fn();
const create = jest.fn((_canvas: HTMLCanvasElement, _options: object) => Object.assign(fire, { reset }));
jest.mock("canvas-confetti", () => ({
  __esModule: true,
  default: { create: (...args: Parameters<typeof create>) => create(...args) },
}));

interface Settings {
  readonly mobile?: boolean;
  readonly path?: string;
  readonly signedIn?: boolean;
  /** False on a screen without navigation. */
  readonly shell?: boolean;
  readonly tours?: readonly Tour[];
  readonly language?: "en" | "es";
}

async function show({
  mobile = false,
  path = "/home",
  signedIn = true,
  shell = true,
  tours: remoteTours = [],
  language = "en",
}: Settings = {}) {
  mockWindow({ mobile });
  const fake = createFakeHost();
  const load = (name: RemoteName): Promise<ParsedModule> =>
    name === "secrets"
      ? Promise.resolve({ name, routes: [], tours: remoteTours })
      : Promise.reject(new PortalError("remote_unreachable"));
  const host = { ...fake.host, loader: { ...fake.host.loader, load } };
  const tours = createTours(createTourStorage(() => localStorage));
  const app = await renderApp(
    <HostContext value={host}>
      <ToursProvider value={tours}>
        <Frame userName="alba" shell={shell} signedIn={signedIn}>
          <h1 data-tour="home-create">Screen</h1>
          {path === "/help" && <HelpPage />}
        </Frame>
        <TourHost hasClaims={signedIn} shell={shell} remote="secrets" />
      </ToursProvider>
    </HostContext>,
    { path, language },
  );
  return { tours, app, host };
}

const findTooltip = (name: string) => screen.findByRole("dialog", { name });
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

beforeEach(() => {
  localStorage.clear();
  jest.clearAllMocks();
});

describe("the first visit on a wide screen", () => {
  it("runs the frame's tour from its first step to its last, and celebrates", async () => {
    const { tours } = await show();
    for (const title of [
      "Home",
      "Secrets",
      "Shared with me",
      "Add secret",
      "Language",
      "Light or dark",
      "Sign out",
      "The page",
      "Help",
    ]) {
      const step = await findTooltip(title);
      const next = within(step).getByRole("button", { name: /^(Next|Done)$/ });
      await waitFor(() => {
        expect(next).toHaveFocus();
      });
      await userEvent.click(next);
    }
    expect(await screen.findByText("You know your way around.")).toBeInTheDocument();
    expect(localStorage.getItem(onboardingKey)).toBe("true");
    expect(create).toHaveBeenCalledWith(
      expect.any(HTMLCanvasElement),
      expect.objectContaining({ useWorker: false, disableForReducedMotion: true }),
    );
    expect(fire).toHaveBeenCalledWith(
      expect.objectContaining({ particleCount: 100, ticks: 120, colors: [...celebration.colors] }),
    );
    expect(new Set(celebration.colors).size).toBe(7);
    await waitFor(() => {
      expect(tours.getState()).toEqual({ status: "idle" });
    });
    expect(screen.queryByText("You know your way around.")).not.toBeInTheDocument();
  });

  it("goes back, and ends at the cross with the flag stored", async () => {
    await show();
    await findTooltip("Home");
    await press("Next");
    await findTooltip("Secrets");
    await press("Back");
    await findTooltip("Home");
    await press("End the tour");
    expect(await screen.findByText("You know your way around.")).toBeInTheDocument();
    expect(localStorage.getItem(onboardingKey)).toBe("true");
  });

  it("ends at Escape", async () => {
    const { tours } = await show();
    await findTooltip("Home");
    await userEvent.keyboard("{Escape}");
    await waitFor(() => {
      expect(tours.getState()).toMatchObject({ status: "skipped" });
    });
  });

  it("says in Spanish, accessibly, that image and keys stay on the device", async () => {
    await show({ language: "es" });
    await findTooltip("Inicio");
    await press("Siguiente");
    expect(await findTooltip("Secretos")).toHaveTextContent("La imagen y las claves nunca salen de tu dispositivo.");
    await expectAccessible();
  });

  it("pauses during a confirmation dialog, and continues at the same step", async () => {
    const { tours, host } = await show();
    await findTooltip("Home");
    await press("Next");
    await findTooltip("Secrets");
    let answer: Promise<boolean> | undefined;
    act(() => {
      answer = host.confirmQueue.ask({ title: "Sure", description: "Really" });
    });
    await waitFor(() => {
      expect(tours.getState()).toMatchObject({ status: "paused" });
    });
    act(() => {
      host.confirmQueue.getState()?.answer(false);
    });
    await answer;
    expect(await findTooltip("Secrets")).toBeInTheDocument();
    expect(tours.getState()).toMatchObject({ status: "running" });
  });

  it.each([
    ["the flag is set", { isOnboarded: true }],
    ["no one is signed in", { signedIn: false }],
    ["the path contains shared", { path: "/shared/abc" }],
    ["the path contains p-shared", { path: "/p-shared/abc" }],
  ] as const)(
    "has no tour when %s",
    async (_, { isOnboarded = false, ...settings }: Settings & { isOnboarded?: boolean }) => {
      if (isOnboarded) {
        localStorage.setItem(onboardingKey, "true");
        localStorage.setItem(toursSeenKey, '"all"');
      }
      const { tours } = await show(settings);
      expect(tours.getState()).toEqual({ status: "idle" });
    },
  );
});

describe("the tours of screens", () => {
  const listTour: Tour = {
    name: "list",
    path: "/secrets",
    steps: [
      { target: "layout-secrets", titleKey: "joyride:layout.secrets_title", bodyKey: "joyride:layout.secrets_body" },
    ],
  };

  it("run once, when their screen is first shown, without a celebration", async () => {
    localStorage.setItem(onboardingKey, "true");
    const { tours, app } = await show({ path: "/secrets", tours: [listTour] });
    await findTooltip("Secrets");
    await press("Done");
    await waitFor(() => {
      expect(tours.getState()).toEqual({ status: "idle" });
    });
    expect(create).not.toHaveBeenCalled();
    app.unmount();

    const secondVisit = await show({ path: "/secrets", tours: [listTour] });
    expect(secondVisit.tours.getState()).toEqual({ status: "idle" });
  });

  it.each(["/shared/abc", "/p-shared/abc"])(
    "also run on pages opened by a link, once onboarding has ended (%s)",
    async (path) => {
      const linkTour = {
        ...listTour,
        path: path.replace("abc", ":shareId"),
        steps: [{ ...listTour.steps[0], target: "home-create" }],
      } as Tour;
      const firstVisit = await show({ path, tours: [linkTour] });
      expect(firstVisit.tours.getState()).toEqual({ status: "idle" });
      firstVisit.app.unmount();
      localStorage.setItem(onboardingKey, "true");
      await show({ path, tours: [linkTour] });
      expect(await findTooltip("Secrets")).toBeInTheDocument();
    },
  );

  it("leave out steps whose target is not shown", async () => {
    localStorage.setItem(onboardingKey, "true");
    await show({ path: "/home" });
    const step = await findTooltip("Protect something important");
    expect(within(step).getByRole("status")).toHaveTextContent("1 of 1");
  });

  it("can be replayed from Help", async () => {
    localStorage.setItem(onboardingKey, "true");
    localStorage.setItem(toursSeenKey, '"all"');
    const { app } = await show({ path: "/help", tours: [listTour] });
    await userEvent.click(await screen.findByRole("button", { name: "Start the tour: Secrets" }));
    expect(app.getLocation()).toBe("/secrets");
    expect(await findTooltip("Secrets")).toBeInTheDocument();
  });
});

describe("the first visit on a phone", () => {
  it("starts with the slides; finishing them starts the tour", async () => {
    await show({ mobile: true });
    const slides = await screen.findByRole("dialog", { name: "Protect it with a picture" });
    expect(localStorage.getItem(onboardingKey)).toBeNull();
    await userEvent.click(within(slides).getByRole("button", { name: "Slide 3 of 3" }));
    await press("Finish");
    expect(await findTooltip("Home")).toBeInTheDocument();
  });

  it("ends with the slides when they are skipped, and stores the flag", async () => {
    const { tours } = await show({ mobile: true });
    await userEvent.click(await screen.findByRole("button", { name: "Skip" }));
    expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
    expect(localStorage.getItem(onboardingKey)).toBe("true");
    expect(tours.getState()).toEqual({ status: "idle" });
  });
});

describe("findMissingTourTargets", () => {
  it("finds all targets of the layout tour", async () => {
    localStorage.setItem(onboardingKey, "true");
    await show({ path: "/help" });
    expect(layoutTour.steps).toHaveLength(9);
    expect(findMissingTourTargets(layoutTour)).toEqual([]);
  });

  it("finds all targets of the mobile tour", async () => {
    localStorage.setItem(onboardingKey, "true");
    await show({ path: "/help", mobile: true });
    expect(mobileTour.steps).toHaveLength(6);
    expect(findMissingTourTargets(mobileTour)).toEqual([]);
  });

  it("names missing targets", async () => {
    await show({ path: "/help" });
    expect(findMissingTourTargets(homeTour)).toEqual(["home-messages"]);
  });
});

describe("a screen without navigation", () => {
  const tour: Tour = {
    name: "secrets/picture",
    path: "/provide-image",
    steps: [{ target: "home-create", titleKey: "joyride:home.create_title", bodyKey: "joyride:home.create_body" }],
  };

  it("offers its tour after onboarding", async () => {
    localStorage.setItem(onboardingKey, "true");
    await show({ path: "/provide-image", shell: false, tours: [tour] });
    expect(await findTooltip("Protect something important")).toBeVisible();
  });

  it("starts no onboarding", async () => {
    const { tours } = await show({ path: "/provide-image", shell: false, tours: [tour] });
    expect(tours.getState()).toEqual({ status: "idle" });
  });
});
