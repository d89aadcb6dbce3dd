import type { ReactNode } from "react";
import { Link, type LinkProps } from "react-router-dom";
import { styled } from "styled-components";

import { buttonStyles, type ButtonBoxProps, type ButtonSize, type ButtonTone } from "./Button.tsx";

export interface ButtonLinkProps extends LinkProps {
  readonly tone?: ButtonTone;
  readonly size?: ButtonSize;
  readonly icon?: ReactNode;
  readonly wide?: boolean;
}

/** Link to another screen, styled as a button. */
export function ButtonLink({
  tone = "primary",
  size = "medium",
  icon,
  wide = false,
  children,
  ...rest
}: ButtonLinkProps) {
  return (
    <LinkBox {...rest} $tone={tone} $size={size} $wide={wide}>
      {icon}
      <span>{children}</span>
    </LinkBox>
  );
}

const LinkBox = styled(Link)<ButtonBoxProps>`
  ${buttonStyles}
`;
