import type { RemoteTour } from "@relicario/shared/contract";

/** Targets (`data-tour`) and texts of this remote's tours. The tour of Home belongs to the host. */
export const tours: readonly RemoteTour[] = [
  {
    name: "secrets",
    titleKey: "beta-home:tour.list.tour_title",
    path: "/secrets",
    steps: [
      {
        target: "secrets-search",
        titleKey: "beta-home:tour.list.search_title",
        bodyKey: "beta-home:tour.list.search_body",
      },
      {
        target: "secrets-filter",
        titleKey: "beta-home:tour.list.filter_title",
        bodyKey: "beta-home:tour.list.filter_body",
      },
      {
        target: "secrets-total",
        titleKey: "beta-home:tour.list.total_title",
        bodyKey: "beta-home:tour.list.total_body",
      },
    ],
  },
  {
    name: "add-secret",
    titleKey: "beta-add-secret:tour.add.tour_title",
    path: "/add-secret",
    steps: [
      {
        target: "add-secret-start",
        titleKey: "beta-add-secret:tour.add.start_title",
        bodyKey: "beta-add-secret:tour.add.start_body",
      },
      {
        target: "add-secret-content",
        titleKey: "beta-add-secret:tour.add.content_title",
        bodyKey: "beta-add-secret:tour.add.content_body",
      },
      {
        target: "add-secret-tags",
        titleKey: "beta-add-secret:tour.add.tags_title",
        bodyKey: "beta-add-secret:tour.add.tags_body",
      },
      {
        target: "add-secret-image",
        titleKey: "beta-add-secret:tour.add.image_title",
        bodyKey: "beta-add-secret:tour.add.image_body",
      },
      {
        target: "add-secret-save",
        titleKey: "beta-add-secret:tour.add.save_title",
        bodyKey: "beta-add-secret:tour.add.save_body",
      },
    ],
  },
  {
    name: "edit-secret",
    titleKey: "beta-add-secret:tour.edit.tour_title",
    path: "/edit-secret/:secretId",
    steps: [
      {
        target: "add-secret-title",
        titleKey: "beta-add-secret:tour.edit.title_title",
        bodyKey: "beta-add-secret:tour.edit.title_body",
      },
      {
        target: "add-secret-content",
        titleKey: "beta-add-secret:tour.edit.content_title",
        bodyKey: "beta-add-secret:tour.edit.content_body",
      },
      {
        target: "add-secret-tags",
        titleKey: "beta-add-secret:tour.edit.tags_title",
        bodyKey: "beta-add-secret:tour.edit.tags_body",
      },
      {
        target: "add-secret-image",
        titleKey: "beta-add-secret:tour.edit.image_title",
        bodyKey: "beta-add-secret:tour.edit.image_body",
      },
      {
        target: "add-secret-save",
        titleKey: "beta-add-secret:tour.edit.save_title",
        bodyKey: "beta-add-secret:tour.edit.save_body",
      },
    ],
  },
];
