import type { RemoteTour } from "@relicario/shared/contract";

/** Targets (`data-tour`) and texts of this remote's tours. */
export const tours: readonly RemoteTour[] = [
  {
    name: "visual-backup",
    titleKey: "provide-image:tour.backup.tour_title",
    path: "/provide-image",
    steps: [
      {
        target: "picture-field",
        titleKey: "provide-image:tour.backup.field_title",
        bodyKey: "provide-image:tour.backup.field_body",
      },
      {
        target: "picture-take",
        titleKey: "provide-image:tour.backup.take_title",
        bodyKey: "provide-image:tour.backup.take_body",
      },
      {
        target: "picture-next",
        titleKey: "provide-image:tour.backup.next_title",
        bodyKey: "provide-image:tour.backup.next_body",
      },
    ],
  },
  {
    name: "recovery-help",
    titleKey: "image-recovery:tour.help.tour_title",
    path: "/provide-image-recovery",
    steps: [
      {
        target: "picture-field",
        titleKey: "image-recovery:tour.help.field_title",
        bodyKey: "image-recovery:tour.help.field_body",
      },
      {
        target: "recovery-try",
        titleKey: "image-recovery:tour.help.try_title",
        bodyKey: "image-recovery:tour.help.try_body",
      },
      {
        target: "recovery-help",
        titleKey: "image-recovery:tour.help.help_title",
        bodyKey: "image-recovery:tour.help.help_body",
      },
    ],
  },
];
