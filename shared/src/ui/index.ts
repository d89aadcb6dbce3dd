export {
  Button,
  IconButton,
  type ButtonProps,
  type ButtonSize,
  type ButtonTone,
  type IconButtonProps,
} from "./Button.tsx";
export { ButtonLink, type ButtonLinkProps } from "./ButtonLink.tsx";
export { Card } from "./Card.tsx";
export { ConfirmDialog, type ConfirmDialogProps } from "./ConfirmDialog.tsx";
export { Dialog, useDialog, type DialogProps } from "./Dialog.tsx";
export { GlobalStyle } from "./GlobalStyle.tsx";
export {
  Muted,
  PointerHint,
  SectionTitle,
  SmallText,
  SpacedRow,
  Stack,
  visuallyHidden,
  VisuallyHidden,
} from "./layout.tsx";
export { LeaveGuard, type LeaveGuardProps } from "./LeaveGuard.tsx";
export { Menu } from "./Menu.tsx";
export type { MenuItem, MenuProps } from "./MenuSheet.tsx";
export { layoutBlockMilliseconds, layoutMotion, panelMotion, slideMotion, spring, toastMotion } from "./motion.ts";
export { useErrorMessage } from "./error-message.ts";
export { ErrorNotice, Notice, type ErrorNoticeProps, type NoticeProps, type NoticeTone } from "./notices.tsx";
export { Page, type PageProps } from "./Page.tsx";
export { PictureFacts } from "./PictureFacts.tsx";
export {
  breakpoints,
  colors,
  depths,
  media,
  s,
  space,
  type ColorOverrides,
  type ColorToken,
  type Token,
} from "./tokens.ts";
export { Tooltip, type TooltipProps } from "./Tooltip.tsx";
export { markVerbatim } from "../contract/bidi-isolation.ts";
export { renderVerbatim, Verbatim } from "./Verbatim.tsx";
export { useReleaseOpener, useOpenerHandle, type OpenerHandleOwner } from "./useOpenerHandle.ts";
export { useVault, useVaultState, useVisitor, type VaultAccess, type VisitorAccess } from "./useVault.ts";
export {
  EmptyState,
  Loading,
  Progress,
  Skeleton,
  type EmptyStateProps,
  type ProgressProps,
  type SkeletonProps,
} from "./waiting.tsx";
