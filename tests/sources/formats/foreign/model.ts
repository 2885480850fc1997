import { Entity } from 'electrodb';
export const x = new Entity({});
