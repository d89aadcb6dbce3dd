import { LoaderCircle } from "lucide-react";
import type { ComponentPropsWithRef, MouseEvent, ReactNode } from "react";
import { css, keyframes, styled } from "styled-components";

import { media, s, space } from "./tokens.ts";

export type ButtonTone = "primary" | "quiet" | "danger" | "plain";
export type ButtonSize = "small" | "medium" | "large";

export interface ButtonProps extends ComponentPropsWithRef<"button"> {
  /**
   * `primary`: the main action. `quiet`: any other action. `danger`: an irreversible action.
   * `plain`: only text.
   */
  readonly tone?: ButtonTone;
  readonly size?: ButtonSize;
  /** Whether an action runs. The button then keeps the focus and ignores presses. */
  readonly pending?: boolean;
  readonly icon?: ReactNode;
  /** Whether the button fills the width of its container. */
  readonly wide?: boolean;
}

export function Button({
  tone = "primary",
  size = "medium",
  pending = false,
  icon,
  wide = false,
  type = "button",
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const handleClick = (event: MouseEvent<HTMLButtonElement>) => {
    if (pending) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <ButtonBox
      {...rest}
      type={type}
      $tone={tone}
      $size={size}
      $wide={wide}
      aria-busy={pending || undefined}
      aria-disabled={pending || rest["aria-disabled"]}
      onClick={handleClick}
    >
      {pending ? <Spinner aria-hidden size="1.15em" /> : icon}
      <span>{children}</span>
    </ButtonBox>
  );
}

export interface IconButtonProps extends ComponentPropsWithRef<"button"> {
  /** Accessible name, which says what the button does. */
  readonly label: string;
  readonly icon: ReactNode;
}

export function IconButton({ label, icon, type = "button", ...rest }: IconButtonProps) {
  return (
    <IconBox {...rest} type={type} aria-label={label}>
      {icon}
    </IconBox>
  );
}

const tones = {
  primary: css`
    background: ${s("accent")};
    color: ${s("onAccent")};
    border-color: transparent;
    &:hover:not(:disabled) {
      background: ${s("accentHover")};
    }
  `,
  quiet: css`
    background: ${s("surface")};
    color: ${s("text")};
    border-color: ${s("borderStrong")};
    &:hover:not(:disabled) {
      background: ${s("surfaceSunken")};
    }
  `,
  danger: css`
    background: ${s("danger")};
    color: ${s("onDanger")};
    border-color: transparent;
    &:hover:not(:disabled) {
      background: ${s("dangerHover")};
    }
  `,
  plain: css`
    padding-inline: ${space(2)};
    background: transparent;
    color: ${s("accentText")};
    border-color: transparent;
    text-align: start; /* of a text that wraps */
    text-decoration: underline;
    text-underline-offset: 0.2em;
    &:hover:not(:disabled) {
      background: ${s("accentSoft")};
    }
  `,
} as const satisfies Record<ButtonTone, unknown>;

const sizes = {
  small: css`
    min-height: 36px;
    padding: ${space(1.5)} ${space(3)};
    font-size: ${s("textSmall")};
  `,
  medium: css`
    min-height: 44px;
    padding: ${space(2)} ${space(5)};
  `,
  large: css`
    min-height: 52px;
    padding: ${space(3)} ${space(6)};
    font-size: ${s("textLarge")};
    ${media.mobile} {
      padding-inline: ${space(3)};
      font-size: 1.1rem;
    }
  `,
} as const satisfies Record<ButtonSize, unknown>;

export interface ButtonBoxProps {
  readonly $tone: ButtonTone;
  readonly $size: ButtonSize;
  readonly $wide: boolean;
}

/** Of a button, and of a link that looks like one. */
export const buttonStyles = css<ButtonBoxProps>`
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: ${space(2)};
  border: 1px solid;
  border-radius: ${s("radius")};
  font-weight: 600;
  line-height: 1.25;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
  -webkit-user-select: none;
  user-select: none;
  transition: background-color 120ms ease;
  max-width: 100%;
  width: ${({ $wide }) => ($wide ? "100%" : "auto")};
  ${({ $size }) => sizes[$size]}
  ${({ $tone }) => tones[$tone]}

  & > svg {
    flex: none;
    width: 1.2em;
    height: 1.2em;
  }
  & > span {
    min-width: 0;
  }
  ${media.touch} {
    min-height: ${s("target")};
  }
  ${media.mobile} {
    min-height: ${s("target")};
  }
`;

const ButtonBox = styled.button<ButtonBoxProps>`
  ${buttonStyles}
  &:disabled {
    opacity: 0.55;
    cursor: not-allowed;
  }
  &[aria-disabled="true"] {
    opacity: 0.8;
    cursor: progress;
  }
`;

const IconBox = styled.button`
  display: inline-grid;
  place-items: center;
  flex: none;
  width: ${s("target")};
  height: ${s("target")};
  border: 0;
  border-radius: ${s("radius")};
  background: transparent;
  color: ${s("textMuted")};
  cursor: pointer;
  &:hover:not(:disabled),
  &[data-state="open"] {
    background: ${s("surfaceSunken")};
    color: ${s("text")};
  }
  &:disabled {
    opacity: 0.5;
    cursor: not-allowed;
  }
  & > svg {
    width: 20px;
    height: 20px;
  }
`;

const spin = keyframes`
  to { transform: rotate(1turn); }
`;

const Spinner = styled(LoaderCircle)`
  animation: ${spin} 900ms linear infinite;
`;
