import { Button, Card, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { Play } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router-dom";

import { useIsMobile } from "../frame/use-media-query.ts";
import { showToast } from "../popups/Toasts.tsx";
import { useHost } from "../context/host-context.ts";
import { getFrameTour, homeTour } from "../tours/host-tours.ts";
import type { Tour } from "../tours/tour-state.ts";
import { listRemoteTours, useTours } from "../tours/tours.ts";

/** Lists all tours, to replay them: those of the host and of each loaded remote. */
export function ReplayTours() {
  const { t } = useTranslation(["help", "joyride"]);
  const { dispatch, storage } = useTours();
  const navigate = useNavigate();
  const mobile = useIsMobile();
  const remoteTours = useRemoteTours();

  const handleStart = (tour: Tour) => {
    storage.offerAgain(tour.name);
    if (tour.path.includes(":")) {
      // The path has a parameter, such as the id of a secret, so the person has to open that screen
      // first.
      showToast({ tone: "info", text: t("help:tours.later_status") });
      return;
    }
    dispatch({ type: "offered", tour });
    void navigate(tour.path);
  };
  return (
    <Card>
      <Stack $gap={3}>
        <SectionTitle>{t("help:tours.title")}</SectionTitle>
        <p>{t("help:tours.body")}</p>
        <SpacedRow>
          {[getFrameTour(mobile), homeTour, ...remoteTours].map((tour) => (
            <Button
              key={tour.name}
              tone="quiet"
              icon={<Play size={16} aria-hidden />}
              onClick={() => {
                handleStart(tour);
              }}
            >
              {t("help:tours.start_action", { tour: t(getTitleKey(tour)) })}
            </Button>
          ))}
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** The title of a tour, or of its first step. */
function getTitleKey({ titleKey, steps: [firstStep], name }: Tour): string {
  return titleKey ?? firstStep?.titleKey ?? name;
}

function useRemoteTours(): readonly Tour[] {
  const { loader, verifiedDeployment } = useHost();
  const [tours, setTours] = useState<readonly Tour[]>([]);
  useEffect(() => {
    let isCancelled = false;
    const toursByRemote = [...verifiedDeployment.remotes.keys()].map((name) => loader.load(name).then(listRemoteTours));
    void Promise.allSettled(toursByRemote).then((loaded) => {
      // A remote that does not load has no tours to list. Its own screens show the failure.
      if (!isCancelled) setTours(loaded.flatMap((result) => (result.status === "fulfilled" ? result.value : [])));
    });
    return () => {
      isCancelled = true;
    };
  }, [loader, verifiedDeployment]);
  return tours;
}
