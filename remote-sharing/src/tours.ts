import type { RemoteTour } from "@relicario/shared/contract";

/**
 * Targets (`data-tour`) and texts of this remote's tours. The two tours of a shared link start when
 * their targets are rendered: the first at the preview, the second after opening.
 */
const receivedTour: RemoteTour = {
  name: "received",
  path: "/recived",
  titleKey: "beta-share:tour.tour_title",
  steps: [
    { target: "received-search", titleKey: "beta-share:tour.search_title", bodyKey: "beta-share:tour.search_body" },
    { target: "received-filter", titleKey: "beta-share:tour.filter_title", bodyKey: "beta-share:tour.filter_body" },
    { target: "received-total", titleKey: "beta-share:tour.total_title", bodyKey: "beta-share:tour.total_body" },
  ],
};

const recoveryTour: RemoteTour = {
  name: "shared-recovery",
  path: "/p-shared/:shareId",
  titleKey: "beta-recover-share:tour.help_title",
  steps: [
    {
      target: "share-facts",
      titleKey: "beta-recover-share:tour.facts_title",
      bodyKey: "beta-recover-share:tour.facts_body",
    },
    {
      target: "share-needs",
      titleKey: "beta-recover-share:tour.needs_title",
      bodyKey: "beta-recover-share:tour.needs_body",
    },
    {
      target: "share-open",
      titleKey: "beta-recover-share:tour.open_title",
      bodyKey: "beta-recover-share:tour.open_body",
    },
  ],
};

const recoveredTour: RemoteTour = {
  name: "shared-recovered",
  path: "/p-shared/:shareId",
  titleKey: "beta-recover-share:tour.opened_title",
  steps: [
    {
      target: "shared-content",
      titleKey: "beta-recover-share:tour.content_title",
      bodyKey: "beta-recover-share:tour.content_body",
    },
    {
      target: "shared-keep",
      titleKey: "beta-recover-share:tour.keep_title",
      bodyKey: "beta-recover-share:tour.keep_body",
    },
    {
      target: "shared-put-away",
      titleKey: "beta-recover-share:tour.put_away_title",
      bodyKey: "beta-recover-share:tour.put_away_body",
    },
  ],
};

export const tours: readonly RemoteTour[] = [receivedTour, recoveryTour, recoveredTour];
